"""Which folders can be written, and what is said of those that cannot."""

from __future__ import annotations

from pathlib import Path

import pytest

from stet_ls.engine.storage.paths import Paths
from stet_ls.engine.storage.writable import obstacle, unwritable_warnings


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return Paths(*(tmp_path / name for name in ("config.toml", "data", "cache", "log", "run")))


def test_a_folder_that_does_not_exist_yet_counts_as_writable(tmp_path: Path) -> None:
    assert obstacle(tmp_path / "a" / "b") is None
    assert not list(tmp_path.iterdir()), "nothing is left of the trial"


def test_the_obstacle_is_named(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("in the way")
    assert str(obstacle(tmp_path / "a" / "b")) == f"`{tmp_path}/a` is not writable (Not a directory)"


def test_each_obstacle_is_reported_once_with_the_disabled_features(paths: Paths) -> None:
    paths.data.write_text("in the way")
    paths.cache.mkdir()
    (paths.symbols).write_text("in the way")
    parts = {"the memory": paths.memory, "the ledger": paths.ledger, "the index": paths.symbols}

    first, second = unwritable_warnings(parts, paths.sandbox)

    assert first.startswith(f"`{paths.data}` is not writable (Not a directory). Disabled until it is: ")
    assert "the memory, the ledger. Make room" in first
    assert f"`{paths.cache}/symbols` is not writable" in second
    assert "temporary folder" not in first + second, "code still runs where it always does"


def test_writable_folders_are_not_reported(paths: Paths) -> None:
    assert not list(unwritable_warnings({"the memory": paths.memory}, paths.sandbox))

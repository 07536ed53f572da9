"""Stet's files and folders are in one table, and nothing else makes up a place of its own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from stet_ls.engine.storage.paths import Paths, stored, user_paths

ROOT = Path(__file__).resolve().parents[3]
JOINED = re.compile(
    r"(?:paths|paths\(\)|_paths)\.(?:data|cache|logs|config) /|\bdata_dir\b|user_(?:data|cache|log)_dir"
)


@pytest.mark.parametrize("room", ["engine", "server", "validators"])
def test_no_file_joins_a_folder_of_its_own(room: str) -> None:
    joined = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in sorted((ROOT / room).rglob("*.py")) if path.name != "paths.py"
        for number, line in enumerate(path.read_text().splitlines(), 1) if JOINED.search(line)
    ]  # fmt: skip
    assert joined == []


@pytest.mark.usefixtures("stet_home")
def test_each_is_below_its_folder_and_says_what_it_holds() -> None:
    paths = user_paths()
    assert len({getattr(paths, name) for name in stored()}) == len(stored()) > 15
    for name, each in stored().items():
        assert getattr(paths, name) == getattr(paths, each.base) / each.path, name
        assert each.base in Paths.__dataclass_fields__ or each.base == "config", name
        assert each.holds.endswith("."), name
        assert each.stays, name


def test_each_is_used() -> None:
    texts = "\n".join(path.read_text() for room in ("engine", "server") for path in (ROOT / room).rglob("*.py"))
    assert [name for name in stored() if not re.search(rf"\.{name}\b", texts)] == []

"""Weights that are installed: which ones are known and chosen, and that their bytes are the right ones."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support.servers.weights_web import CONTENT, FAKE, expect_whole

from stet_ls.engine.errors import UsageError
from stet_ls.engine.model.embedded.weights import DEFAULT, WEIGHTS, chosen, installed, is_verified, pull
from stet_ls.engine.model.profiles.profiles import profile_for
from stet_ls.engine.storage.paths import Paths


def test_weights_are_installed_from_a_local_file(paths: Paths, tmp_path: Path) -> None:
    copy = tmp_path / "copy.gguf"
    copy.write_bytes(CONTENT)
    seen: list[tuple[int, int]] = []
    assert pull("fake", paths, source=copy, on_progress=lambda *progress: seen.append(progress)) == installed(
        paths, "fake"
    )
    expect_whole(paths)
    assert seen == sorted(seen)
    assert seen[0] == (0, len(CONTENT))
    assert seen[-1] == (len(CONTENT), len(CONTENT))


@pytest.mark.parametrize("content", [b"", CONTENT[:-1], CONTENT[:-1] + b"x"])
def test_a_file_with_another_digest_is_refused(paths: Paths, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "other.gguf").write_bytes(content)
    with pytest.raises(UsageError, match=r"other\.gguf is not Qwen.*SHA-256 differs"):
        pull("fake", paths, source=tmp_path / "other.gguf")
    assert installed(paths, "fake") is None


def test_a_missing_local_file_is_reported(paths: Paths, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.gguf"):
        pull("fake", paths, source=tmp_path / "none.gguf")


def test_an_unknown_model_is_reported(paths: Paths) -> None:
    with pytest.raises(UsageError, match='no model "huge"; there are tiny, small'):
        pull("huge", paths)


def test_a_shared_folder_is_searched_first(paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    monkeypatch.setenv("STET_MODELS_DIR", str(shared))
    assert installed(paths, "fake") is None
    (shared / FAKE.stored_as).write_bytes(CONTENT)
    assert installed(paths, "fake") == shared / FAKE.stored_as
    assert pull("fake", paths) == shared / FAKE.stored_as
    assert not paths.models.exists(), "nothing is copied"
    (shared / FAKE.stored_as).write_bytes(CONTENT[:-1])
    assert installed(paths, "fake") is None, "half a file is none"


def test_auto_selects_the_largest_installed_model(paths: Paths) -> None:
    """Who fetched the small one in addition to the tiny one did it on purpose."""
    paths.models.mkdir(parents=True)
    assert chosen("auto", paths) == DEFAULT == "small"
    for name in ("tiny", "small"):
        with (paths.models / WEIGHTS[name].stored_as).open("wb") as file:
            file.truncate(WEIGHTS[name].size)
        assert chosen("auto", paths) == name
    assert chosen("tiny", paths) == "tiny"
    assert chosen("off", paths) is None


def test_medium_is_known_and_has_to_be_asked_for(paths: Paths) -> None:
    medium = WEIGHTS["medium"]
    assert (medium.model, medium.size) == ("qwen2.5-coder-7b-instruct", 4_683_073_536)
    assert profile_for(medium.model).tier == "mid"
    assert chosen("auto", paths) == DEFAULT == "small"


def test_the_parts_add_up_to_the_file() -> None:
    in_parts = [weights for weights in WEIGHTS.values() if weights.parts is not None]
    assert len(in_parts) == 2
    for weights in in_parts:
        assert (weights.parts.count - 1) * weights.parts.size < weights.size <= weights.parts.count * weights.parts.size


def test_downloading_weights_imports_no_settings_library() -> None:
    """`stet model list` should not load what it does not use."""
    script = (
        "import sys, stet_ls.engine.model.embedded.weights; "
        "sys.exit('pydantic' in sys.modules or 'openai' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script]).returncode == 0


def test_a_file_of_the_right_size_with_other_bytes_is_not_the_model(paths: Paths, tmp_path: Path) -> None:
    path = paths.models / FAKE.stored_as
    path.parent.mkdir(parents=True)
    path.write_bytes(CONTENT)
    assert is_verified(paths, "fake", path)
    assert is_verified(paths, "fake", path), "from what is kept"
    path.write_bytes(CONTENT[:-1] + b"x")
    assert not is_verified(paths, "fake", path)
    (tmp_path / "copy.gguf").write_bytes(CONTENT)
    assert pull("fake", paths, source=tmp_path / "copy.gguf") == path
    assert path.read_bytes() == CONTENT, "a pull replaces it"

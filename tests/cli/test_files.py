"""Writing an answer: whole or not at all, and only over what was read."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from stet_ls.engine.errors import UsageError
from stet_ls.server.cli.files import Change, read_document, write


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file with something in it."""
    path = tmp_path / "a.py"
    path.write_text("old\n")
    return path


def test_a_read_only_file_stays_as_it_is(file: Path) -> None:
    change = Change(read_document(file), "new\n")
    file.chmod(0o444)
    with pytest.raises(UsageError, match="is read-only; nothing was written"):
        write([change], [])
    assert file.read_text() == "old\n"
    assert [each.name for each in file.parent.iterdir()] == ["a.py"]


@pytest.mark.parametrize(
    "replace",
    [os.mkfifo, lambda path: path.symlink_to("/dev/zero"), lambda path: path.write_text("old\nmore\n")],
    ids=["pipe", "device", "longer"],
)
def test_what_took_the_files_place_is_neither_waited_for_nor_written(
    file: Path, replace: Callable[[Path], object]
) -> None:
    change = Change(read_document(file), "new\n")
    file.unlink()
    replace(file)
    with pytest.raises(UsageError, match="nothing was written"):
        write([change], [])
    assert [each.name for each in file.parent.iterdir()] == ["a.py"]

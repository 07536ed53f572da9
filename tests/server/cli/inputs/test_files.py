"""Writing an answer: whole or not at all, and only over what was read."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from stet_ls.engine.errors import UsageError
from stet_ls.server.cli.inputs.files import FileChange, read_document, write


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file with something in it."""
    path = tmp_path / "a.py"
    path.write_text("old\n")
    return path


def test_a_read_only_file_is_not_changed(file: Path) -> None:
    change = FileChange(read_document(file), "new\n")
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
def test_a_pipe_in_the_place_of_the_file_is_neither_opened_nor_written(
    file: Path, replace: Callable[[Path], object]
) -> None:
    change = FileChange(read_document(file), "new\n")
    file.unlink()
    replace(file)
    with pytest.raises(UsageError, match="nothing was written"):
        write([change], [])
    assert [each.name for each in file.parent.iterdir()] == ["a.py"]


LATIN = "# -*- coding: latin-1 -*-\nNAME = 'Größe'\n".encode("latin-1")


def test_a_file_is_written_in_the_encoding_that_it_names(file: Path) -> None:
    file.write_bytes(LATIN)
    document = read_document(file)
    assert "Größe" in document.source.text
    write([FileChange(document, document.source.text.replace("Größe", "Länge"))], [])
    assert file.read_bytes() == LATIN.replace("Größe".encode("latin-1"), "Länge".encode("latin-1"))
    with pytest.raises(UsageError, match="iso8859-1 text, which cannot encode '→'; nothing was written"):
        write([FileChange(read_document(file), "# coding: latin-1\nx = '→'\n")], [])


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("a.py", b"NAME = 'Gr\xf6\xdfe'\n", r"is not UTF-8 text \(byte 10\); declare its encoding in the first line"),
        ("a.py", b"# coding: klingon\nx = 1\n", "declares the unknown encoding `klingon`"),
        ("a.py", b"# coding: rot13\nx = 1\n", "declares the unknown encoding `rot13`"),
        ("a.py", b"\xff\xfea\0", "is a binary file"),
        ("a.ipynb", b"{}", "is a notebook: open it in an editor, or convert it"),
    ],
)
def test_a_file_that_cannot_be_decoded_is_reported_with_a_way_out(
    tmp_path: Path, name: str, data: bytes, says: str
) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(UsageError, match=says):
        read_document(tmp_path / name)


def test_a_coding_comment_in_the_third_line_is_ignored(file: Path) -> None:
    file.write_text("x = 1\n\n# coding: latin-1\ny = 'ö'\n")
    assert read_document(file).encoding == "utf-8"

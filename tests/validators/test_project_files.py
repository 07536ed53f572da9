"""A project's files are read as what they claim to be, at once, or not at all."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from stet_ls.validators.checkers.tools import ruff, rust
from stet_ls.validators.project_files import (
    entries,
    matching,
    parse_table,
    read_regular,
    read_start,
    read_table,
    read_text,
    skipped,
)

WAITING: dict[str, Callable[[Path], None]] = {
    "pipe": os.mkfifo,
    "link to a pipe": lambda path: (os.mkfifo(f"{path}.pipe"), path.symlink_to(f"{path}.pipe"))[1],
    "device": lambda path: path.symlink_to("/dev/zero"),
    "terminal": lambda path: path.symlink_to("/dev/ptmx"),
    "loop": lambda path: path.symlink_to(path.name),
    "folder": Path.mkdir,
}
"""What a reader would wait for, or read for ever."""


@pytest.mark.parametrize("make", WAITING.values(), ids=WAITING)
def test_only_a_regular_file_is_read(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "pyproject.toml")
    with pytest.raises(OSError, match=r"not a regular file|[Dd]irectory|symbolic links"):
        read_regular(tmp_path / "pyproject.toml", most=100)


def test_a_file_is_read_up_to_its_limit(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"12345")
    assert read_regular(tmp_path / "file", most=5) == b"12345"
    with pytest.raises(OSError, match="larger than 4 bytes"):
        read_regular(tmp_path / "file", most=4)


def test_no_device_is_opened(tmp_path: Path) -> None:
    """To open one may be to act: each opened `/dev/ptmx` is a terminal."""
    (tmp_path / "file").symlink_to("/dev/ptmx")
    opened: list[object] = []
    watching = [True]
    sys.addaudithook(lambda event, arguments: opened.append(arguments[0]) if watching and event == "open" else None)
    with pytest.raises(OSError, match="not a regular file"):
        read_start(tmp_path / "file", 1)
    watching.clear()  # a hook stays for the life of the process
    assert tmp_path / "file" not in opened


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "file").open("wb") as file:
        file.truncate(1 << 40)  # all of it a hole
    assert read_text(tmp_path / "file", most=1000) is None


def test_a_folder_is_listed_to_a_bound(tmp_path: Path) -> None:
    for name in ("b.go", "a.go", "c.py"):
        (tmp_path / name).touch()
    assert [entry.name for entry in entries(tmp_path)] == ["a.go", "b.go", "c.py"]
    assert len(entries(tmp_path, most=2)) == 2
    assert entries(tmp_path / "missing") == entries(tmp_path / "a.go") == []
    assert [path.name for path in matching(tmp_path, "*.go")] == ["a.go", "b.go"]


@pytest.mark.parametrize("make", WAITING.values(), ids=WAITING)
def test_a_projects_options_and_edition_are_not_waited_for(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "pyproject.toml")
    make(tmp_path / "Cargo.toml")
    found: list[object] = []

    def look() -> None:
        found.extend([ruff.project_options(tmp_path / "a.py"), rust.edition(tmp_path / "a.rs")])

    looking = threading.Thread(target=look, daemon=True)
    looking.start()
    looking.join(60)
    assert found == [(), "2021"]


@pytest.mark.parametrize(
    "text",
    [".".join("a" * 400) + " = 1", "a = " + "[" * 5000, "x = {" + "a." * 400 + "b = 1}"],
    ids=["key", "nesting", "inline"],
)
def test_a_table_nested_too_deep_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"dots|nested"):
        parse_table(text)


def test_a_table_is_read_with_its_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_bytes(b'\xef\xbb\xbf[tool."a.b"]\nx = 1\n')
    assert read_table(tmp_path / "a.toml") == {"tool": {"a.b": {"x": 1}}}


def test_a_crate_inherits_its_workspaces_edition(tmp_path: Path) -> None:
    """From the manifest further up, or, at the top, from the same one."""
    (tmp_path / "crates" / "a" / "src").mkdir(parents=True)
    inherits = "[package]\nname = 'a'\nedition.workspace = true\n"
    (tmp_path / "Cargo.toml").write_text(f"{inherits}[workspace.package]\nedition = '2024'\n")
    (tmp_path / "crates" / "a" / "Cargo.toml").write_text(inherits)

    assert rust.edition(tmp_path / "crates" / "a" / "src" / "lib.rs") == "2024"
    assert rust.edition(tmp_path / "main.rs") == "2024"


def test_a_skipped_file_is_reported_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    before = skipped()
    for _ in range(3):
        assert read_text(tmp_path / "pipe") is None
        assert read_text(tmp_path / "missing") is None
        assert read_text(tmp_path) is None
    assert skipped()[len(before) :] == (tmp_path / "pipe",)

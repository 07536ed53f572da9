"""A folder is small and says what it is for; a file has one idea and few lines."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PRODUCT = ("server", "engine", "validators")
SOURCES = (".py", ".mjs", ".cjs", ".ts", ".lua", ".el", ".sh")
DATA = ("server/cli/demo/sample", "tests/fixtures", "tests/corpora")
"""Code that the product or its tests read as data."""
FOREIGN = ("editors/vscode/node_modules", "editors/vscode/out")
"""What npm puts next to our sources."""
MOST_FILES = 16
"""Modules in a folder, besides `__init__.py`."""
MOST_LINES = 400
LARGER = {"editors/vscode/src": "one extension, bundled into two files; most of its files import several others"}
"""Folders that may hold more files, each with its reason."""


def sources(*folders: str) -> Iterator[Path]:
    """The source files below some folders, by their paths in the project."""
    for path in sorted(each for folder in folders for each in (ROOT / folder).rglob("*")):
        name = path.relative_to(ROOT).as_posix()
        if path.suffix in SOURCES and path.is_file() and not name.startswith((*DATA, *FOREIGN)):
            yield Path(name)


def too_large(paths: Iterator[Path]) -> dict[str, int]:
    """The folders that hold more modules than one can survey, with their number."""
    counts = Counter(path.parent.as_posix() for path in paths if path.name != "__init__.py")
    return {folder: count for folder, count in counts.items() if count > MOST_FILES}


def test_no_folder_has_many_files() -> None:
    """Split such a folder by idea, into folders whose `__init__.py` says the idea in one line."""
    assert set(too_large(sources(*PRODUCT, "tests", "editors"))) == set(LARGER)


def test_a_large_folder_is_found() -> None:
    planted = [Path(f"engine/api/file_{number}.py") for number in range(MOST_FILES + 1)]
    assert too_large(iter(planted)) == {"engine/api": MOST_FILES + 1}
    assert too_large(iter([*planted[1:], Path("engine/api/__init__.py")])) == {}


def test_no_file_is_long() -> None:
    """A file with so many lines holds two ideas."""
    lines = {path: (ROOT / path).read_text("utf-8").count("\n") for path in sources(*PRODUCT, "tests")}
    assert {path.as_posix(): count for path, count in lines.items() if count > MOST_LINES} == {}


@pytest.mark.parametrize("package", PRODUCT)
def test_each_package_says_in_one_line_what_it_is_for(package: str) -> None:
    paths = sources(package)
    for folder in sorted({path.parent for path in paths if path.suffix == ".py"}):
        purpose = ast.get_docstring(ast.parse((ROOT / folder / "__init__.py").read_text("utf-8"))) or ""
        first, _, more = purpose.partition("\n")
        assert first.endswith("."), folder
        assert not more or more.startswith("\n"), f"{folder}: the purpose is one line, further lines after an empty one"

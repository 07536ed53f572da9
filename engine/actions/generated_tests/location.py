"""Finds the test file of a source file: the existing one, else the path that the project's conventions suggest."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from stet_ls.engine.api.request import Request
from stet_ls.engine.errors import UsageError
from stet_ls.validators.containment import is_inside_any
from stet_ls.validators.project_files import TOOL_FOLDERS, entries, read_regular
from stet_ls.validators.test_files import SuiteNames, for_language


@dataclass(frozen=True, slots=True)
class SuiteFile:
    """A test file. `text` is its present text: the unsaved buffer, else the file on disk, else ""."""

    path: Path
    text: str
    exists: bool


_LARGEST = 2_000_000
"""The most bytes of a test file that tests are added to."""
_MOST_FILES = 5000
"""The most entries of a test folder that are searched."""


def find_suite_file(request: Request) -> SuiteFile:
    """The test file for the request's document, which has a path. Raises UsageError if it cannot be used."""
    assert request.path is not None
    source, root = request.path, _root(request)
    homes = (root, source.parent)
    convention = for_language(request.language)
    names = convention.for_source(source)
    folders = [folder for folder in _folders(source, convention, root) if is_inside_any(folder, homes)]
    for folder in folders:
        for found in _existing(folder, names, deep=folder != source.parent):
            if is_inside_any(found, homes):
                return _place(request, found)
    fresh = _fresh(source, convention, names, folders, root)
    if not is_inside_any(fresh, homes):
        raise UsageError(f"Cannot write the tests to {fresh}: it is outside {root}.")
    return _place(request, fresh)


def _root(request: Request) -> Path:
    """The workspace folder that holds the document, else the repository, else the document's own folder."""
    assert request.path is not None
    for root in request.workspace.roots:
        if request.path.is_relative_to(root):
            return root
    marked = (up for up in request.path.parents if (up / ".git").exists() or (up / "pyproject.toml").exists())
    return next(marked, request.path.parent)


def _folders(source: Path, convention: SuiteNames, root: Path) -> Iterator[Path]:
    """The folders that may hold the tests and exist, nearest first."""
    mirrored = Path(str(source.parent).replace(f"{os.sep}src{os.sep}main{os.sep}", f"{os.sep}src{os.sep}test{os.sep}"))
    if mirrored != source.parent:
        yield mirrored  # Maven and Gradle; the folder may not exist yet
    for up in [source.parent, *source.parent.parents]:
        for name in convention.folders:
            folder = up / name
            if (name or up == source.parent) and folder.is_dir():
                yield folder
        if up == root:
            return


def _existing(folder: Path, names: list[str], *, deep: bool) -> Iterator[Path]:
    if not deep:
        yield from (folder / name for name in names if (folder / name).is_file())
        return
    left, pending = _MOST_FILES, [folder]
    while pending and left > 0:
        listed = entries(pending[0], most=left)
        left -= len(listed)
        below = [entry for entry in listed if entry.is_dir(follow_symlinks=False)]
        at, present = pending.pop(0), {entry.name for entry in listed}
        yield from (at / name for name in names if name in present and (at / name).is_file())
        pending += [
            at / entry.name for entry in below if not entry.name.startswith(".") and entry.name not in TOOL_FOLDERS
        ]


def _fresh(source: Path, convention: SuiteNames, names: list[str], folders: list[Path], root: Path) -> Path:
    """The path of a new test file: in a test folder if there is one, named like its neighbors."""
    folder = next((folder for folder in folders if folder != source.parent), None)
    if folder is None:
        folder = source.parent if "" in convention.folders else root / convention.folders[0]
    elif "" in convention.folders and _named_alike(source.parent, source, convention):
        folder = source.parent  # this project's tests are next to their sources
    alike = _named_alike(folder, source, convention)
    return folder / (alike or names[0])


def _named_alike(folder: Path, source: Path, convention: SuiteNames) -> str | None:
    """The name in the pattern that most test files of a folder follow; None if it has no test files."""
    present = [entry.name for entry in entries(folder)]
    extension = source.suffix.lstrip(".")
    counts = {
        pattern: sum(_matches(name, pattern.format(stem="*", ext=extension)) for name in present)
        for pattern in convention.names
    }
    best = max(counts, key=lambda pattern: counts[pattern])
    return best.format(stem=source.stem, ext=extension) if counts[best] else None


def _matches(name: str, pattern: str) -> bool:
    head, _, tail = pattern.partition("*")
    return name.startswith(head) and name.endswith(tail) and len(name) > len(head) + len(tail)


def _place(request: Request, path: Path) -> SuiteFile:
    for buffer in request.workspace.buffers:
        if buffer.path == path:
            return SuiteFile(path, buffer.text, exists=True)
    try:
        return SuiteFile(path, read_regular(path, most=_LARGEST).decode("utf-8"), exists=True)
    except FileNotFoundError:
        return SuiteFile(path, "", exists=False)
    except OSError as error:
        raise UsageError(f"Cannot read the test file {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"The test file {path} is not UTF-8 text.") from None

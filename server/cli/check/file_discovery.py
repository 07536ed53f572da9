"""Finds the files to check: the named ones, and those under the named folders whose language has a checker.

In a git repository git lists a folder's files, so that `.gitignore` holds exactly as git reads it. Elsewhere the folder
is walked, without generated folders. Symbolic links in folders are not followed: their targets are either found anyway
or outside of the named folders.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from stet_ls.engine.workspace.git import complaint, git, is_top, repository
from stet_ls.validators.checkers.table import checkers
from stet_ls.validators.checkers.toolbox import BUILT_IN, Role, Toolbox
from stet_ls.validators.languages import language
from stet_ls.validators.project_files import BUILD_FOLDERS
from stet_ls.validators.shebang import language_of_file


@dataclass(frozen=True, slots=True)
class FileToCheck:
    """A file to check. `explicit`: it was named itself, not found in a folder."""

    path: Path
    explicit: bool


@dataclass(slots=True)
class DiscoveredFiles:
    """The files in the order of the arguments, each once, and messages about what could not be listed.

    `unlisted` are messages about named folders, `problems` about the rest. `tools` are those that may judge.
    """

    tools: Toolbox = BUILT_IN
    files: list[FileToCheck] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    unlisted: list[str] = field(default_factory=list)


def collect(paths: Sequence[Path], exclude: Sequence[str], tools: Toolbox = BUILT_IN) -> DiscoveredFiles:
    """Finds the files. `exclude` holds patterns: without a slash for any part of a path, with one for its beginning.

    A pattern excludes named files too: a caller with a list of files (a hook) expects that.
    """
    walk = DiscoveredFiles(tools)
    seen: set[str] = set()
    for path in paths:
        if path.is_dir():
            try:
                os.scandir(path).close()
            except OSError as error:
                walk.unlisted.append(f"cannot list {path}: {error.strerror}")
                continue
            found = [
                FileToCheck(file, explicit=False) for file in sorted(_folder(path, walk), key=lambda each: each.parts)
            ]
        else:
            found = [FileToCheck(path, explicit=True)]
        for file in found:
            # Not resolved: two names for one file count as two files.
            key = os.path.abspath(file.path)  # noqa: PTH100 - "a/../b" is the same name, and Path.absolute keeps it
            if key not in seen and not _excluded(file.path, exclude):
                seen.add(key)
                walk.files.append(file)
    return walk


def _excluded(path: Path, patterns: Sequence[str]) -> bool:
    parts = tuple(part for part in path.parts if part not in ("/", ".."))
    beginnings = ["/".join(parts[: end + 1]) for end in range(len(parts))]
    return any(
        fnmatchcase(each, pattern.lstrip("/"))
        for pattern in (given.removeprefix("./").rstrip("/") for given in patterns)
        for each in (beginnings if "/" in pattern else parts)
    )


def _folder(folder: Path, walk: DiscoveredFiles) -> Iterator[Path]:
    root = folder.resolve()
    if repository(root) is None:
        yield from _walked(folder, walk)
        return
    listed = git(root, "ls-files", "-z", "-t", "--cached", "--others", "--exclude-standard")
    if listed.status != 0:
        walk.problems.append(f"{folder}: .gitignore is ignored: {complaint(listed)}")
        yield from _walked(folder, walk)
        return
    walk.problems += [f"{folder}: {match[1]}" for match in _UNOPENED.finditer(listed.stderr.decode("utf-8", "replace"))]
    if not listed.stdout and git(root, "check-ignore", "--quiet", ".").status == 0:
        yield from _walked(folder, walk)  # a named folder is checked even if git ignores it
        return
    yield from _listed(folder, listed.stdout, walk)


_UNOPENED = re.compile(r"^warning: (could not open directory .+)$", re.MULTILINE)
_UNTRACKED = "?"


def _listed(folder: Path, output: bytes, walk: DiscoveredFiles) -> Iterator[Path]:
    """The files among git's entries: "H name" if tracked, "? name" if untracked; a nested repository is a folder."""
    inside: dict[Path, bool] = {}
    root = folder.resolve()
    for entry in dict.fromkeys(os.fsdecode(output).split("\0")):
        status, _, name = entry.partition(" ")
        if not name or (status == _UNTRACKED and not BUILD_FOLDERS.isdisjoint(name.split("/")[:-1])):
            continue
        path = folder / name
        try:
            mode = path.lstat().st_mode
        except OSError:
            continue  # tracked, but deleted
        if stat.S_ISDIR(mode):
            if is_top(path):  # a submodule or another repository; one that was not fetched is empty
                yield from _folder(path, walk)
        elif stat.S_ISREG(mode):
            # A tracked folder may have been replaced by a link since.
            if path.parent not in inside:
                inside[path.parent] = path.parent.resolve().is_relative_to(root)
            if inside[path.parent] and _judged(language_of_file(path), walk.tools):
                yield path


def _walked(folder: Path, walk: DiscoveredFiles) -> Iterator[Path]:
    def unlisted(error: OSError) -> None:
        walk.problems.append(f"cannot list {error.filename}: {error.strerror}")

    for place, folders, names in os.walk(folder, onerror=unlisted):
        folders[:] = [name for name in folders if name not in BUILD_FOLDERS]
        for name in [name for name in folders if is_top(Path(place, name))]:
            folders.remove(name)
            yield from _folder(Path(place, name), walk)
        for name in names:
            path = Path(place, name)
            if _regular(path) and _judged(language_of_file(path), walk.tools):
                yield path


@cache
def _judged(name: str, tools: Toolbox) -> bool:
    """Whether some tool can judge the language: other files would only yield "not checked"."""
    row = language(name)
    if row is None:
        return False
    return bool(
        row.grammar or checkers(name, Role.SYNTAX, tools) or (row.packed and find_spec("tree_sitter_language_pack"))
    )


def _regular(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False

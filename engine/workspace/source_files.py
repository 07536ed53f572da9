"""The files of a root that are read: source files not ignored by the project's lists, up to a limit.

Folders come breadth first, so a limit cuts off the deepest parts of a huge tree. Symbolic links are never followed,
because they may lead outside of the root.
"""

from __future__ import annotations

import os
import stat
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from stet_ls.engine.api.request import Workspace
from stet_ls.engine.privacy.gitignore import IgnorePattern, decision, parse
from stet_ls.engine.privacy.ignored_files import IgnoredFiles
from stet_ls.validators.languages import NODE_KINDS, language_of
from stet_ls.validators.project_files import TOOL_FOLDERS, entries, read_regular

LARGEST = 400_000
"""Bytes of a file that is read. Larger ones are generated, or data."""

_LIST = ".gitignore"
_LARGEST_LIST = 64_000
_DEEPEST = 40


@dataclass(frozen=True, slots=True)
class WalkLimits:
    """How much of one root is read: files, entries of folders, bytes in total, seconds."""

    files: int = 20_000
    entries: int = 300_000
    bytes: int = 400_000_000
    seconds: float = 600.0


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to be read. `path` is below the root, with slashes; `changed` is in nanoseconds, `size` in bytes."""

    path: str
    language: str
    changed: int
    size: int


@dataclass
class SourceWalk:
    """One walk through a root. Afterwards `bounds` names the limits that were reached; `late`: the time was over."""

    root: Path
    ignore: tuple[str, ...] = ()
    limits: WalkLimits = field(default_factory=WalkLimits)
    bounds: str = ""
    late: bool = False

    def files(self) -> Iterator[SourceFile]:
        """The files, those of the upper folders first."""
        ignored = _hidden(self.root, self.ignore)
        end = time.monotonic() + self.limits.seconds
        files = looked = size = 0
        folders: deque[tuple[tuple[str, ...], _Lists]] = deque([((), ())])
        while folders:
            names, lists = folders.popleft()
            if time.monotonic() > end:
                self.late = True
                return
            found = entries(self.root.joinpath(*names), most=self.limits.entries + 1 - looked)
            looked += len(found)
            if looked > self.limits.entries:
                self.bounds = f"more than {self.limits.entries:,} entries of folders"
                return
            lists = _with_list(self.root, names, lists)
            for entry in found:
                path = (*names, entry.name)
                if entry.is_dir(follow_symlinks=False):
                    if len(path) <= _DEEPEST and not _skips(path, lists, ignored, self.root):
                        folders.append((path, lists))
                    continue
                file = _file(path, partial(entry.stat, follow_symlinks=False))
                if file is None or _is_listed(path, lists, folder=False):
                    continue
                if ignored.reason_of_name(self.root.joinpath(*path)):
                    continue
                files, size = files + 1, size + file.size
                if files > self.limits.files or size > self.limits.bytes:
                    self.bounds = f"more than {self.limits.files:,} files or {self.limits.bytes // 1_000_000:,} MB"
                    return
                yield file


def admitted_file(root: Path, path: Path, ignore: tuple[str, ...] = ()) -> SourceFile | None:
    """One file of a root as a walk would find it; None if a walk would skip it."""
    if not path.is_relative_to(root):
        return None
    names = path.relative_to(root).parts
    if not names or len(names) > _DEEPEST:
        return None
    ignored = _hidden(root, ignore)
    lists: _Lists = ()
    for count in range(len(names)):
        folder = names[:count]
        if folder and (root.joinpath(*folder).is_symlink() or _skips(folder, lists, ignored, root)):
            return None
        lists = _with_list(root, folder, lists)
    if _is_listed(names, lists, folder=False) or ignored.reason(path):
        return None
    return _file(names, path.lstat)


_Lists = tuple[tuple[int, tuple[IgnorePattern, ...]], ...]
"""The lists that apply in a folder, the nearest first, each with the number of names in its own folder's path."""


def _hidden(root: Path, ignore: tuple[str, ...]) -> IgnoredFiles:
    return IgnoredFiles(Workspace(roots=(root,)), ignore)


def _file(names: tuple[str, ...], look: Callable[[], os.stat_result]) -> SourceFile | None:
    language = language_of(names[-1])
    if language not in NODE_KINDS:
        return None
    try:
        status = look()
        path = "/".join(names)
        path.encode()  # the database cannot store a name that is not UTF-8
    except (OSError, UnicodeEncodeError):
        return None
    if not stat.S_ISREG(status.st_mode) or not 0 < status.st_size <= LARGEST:
        return None
    return SourceFile(path, language, status.st_mtime_ns, status.st_size)


def _skips(names: tuple[str, ...], lists: _Lists, ignored: IgnoredFiles, root: Path) -> bool:
    """True for a folder that is not entered."""
    name = names[-1]
    return (
        name.startswith(".") or name in TOOL_FOLDERS or name.endswith(".egg-info")
        or _is_listed(names, lists, folder=True)
        or ignored.reason_of_name(root.joinpath(*names)) is not None
    )  # fmt: skip


def _is_listed(names: tuple[str, ...], lists: _Lists, *, folder: bool) -> bool:
    """True if git would ignore the path, its parents being entered: the nearest list with a match decides."""
    for depth, lines in lists:
        ignored_here = decision(lines, names[depth:], folder=folder)
        if ignored_here is not None:
            return ignored_here
    return False


def _with_list(root: Path, names: tuple[str, ...], lists: _Lists) -> _Lists:
    try:
        data = read_regular(root.joinpath(*names, _LIST), most=_LARGEST_LIST)
    except OSError:
        return lists
    return ((len(names), parse(data.decode("utf-8", "replace"))), *lists)

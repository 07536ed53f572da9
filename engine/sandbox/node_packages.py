"""The state of a project's `node_modules`: in no tree of git, and what code does depends on each file there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from hashlib import sha256
from itertools import islice
from pathlib import Path

from stet_ls.validators.project_files import TOOL_FOLDERS

_FOLDER = "node_modules"
_END = f"{os.sep}{_FOLDER}"
_CACHES = frozenset({".cache", ".vite", ".vite-temp", ".vitest"})
"""What tools write there while they run."""
_MOST_FOLDERS, _MOST_FILES = 20_000, 60_000


def node_packages(root: Path) -> str | None:
    """Changes with any file of the packages below `root`, in whichever of its folders they are installed; "" without
    any, None for more than can be looked at.

    A file's state is its size and the time of its last change of any kind, which no program can set back.
    """
    places = [*islice(_places(str(root)), _MOST_FOLDERS + 1)]
    rows = [*islice((row for each in places if each.endswith(_END) for row in _states(each)), _MOST_FILES + 1)]
    if len(places) > _MOST_FOLDERS or len(rows) > _MOST_FILES:
        return None
    return sha256("\n".join(sorted(rows)).encode("utf-8", "surrogateescape")).hexdigest() if rows else ""


def _places(root: str) -> Iterator[str]:
    """The folders of a project, and those that hold packages without what is in them."""
    pending = [root]
    while pending:
        place = pending.pop()
        yield place
        if place.endswith(_END):
            continue
        pending += (each.path for each in _entries(place) if _is_searched(each))


def _is_searched(entry: os.DirEntry[str]) -> bool:
    """Whether it is a folder of the project, or one of packages, which may be a link."""
    if entry.name == _FOLDER:
        return entry.is_dir()
    return entry.name not in TOOL_FOLDERS and entry.is_dir(follow_symlinks=False)


def _states(folder: str) -> Iterator[str]:
    pending = [folder]
    while pending:
        for each in _entries(pending.pop()):
            if each.is_dir(follow_symlinks=False):
                pending += [each.path] if each.name not in _CACHES else []
                continue
            try:
                status = each.stat(follow_symlinks=False)
            except OSError:
                continue
            yield f"{each.path} {status.st_ino} {status.st_size} {status.st_ctime_ns}"


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return [*found]
    except OSError:
        return []

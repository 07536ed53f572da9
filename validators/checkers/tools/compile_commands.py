"""The flags with which a project compiles a file, from its compile_commands.json: only harmless ones."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from stet_ls.validators.common_ends import common_ends
from stet_ls.validators.project_files import read_regular

DATABASE = "compile_commands.json"
_LARGEST = 30_000_000  # bytes; the size of a browser's database
_BUILD_FOLDERS = ("", "build", "out", "_build")
_HIGHEST = 30  # folders upward

# A project's file sets these, so the list is of allowed flags, not of forbidden ones: -fplugin, -load, -Xclang, @file,
# -o and all unknown flags are dropped.
_WITH_PATH = ("-I", "-isystem", "-iquote", "-idirafter", "-include", "-isysroot")
_WITH_VALUE = ("-D", "-U")
_ALONE = frozenset(
    (
        "-ansi", "-pthread", "-m32", "-m64", "-nostdinc", "-nostdinc++", "-fno-exceptions", "-fexceptions",
        "-fno-rtti", "-frtti", "-fms-extensions", "-fblocks", "-fchar8_t", "-fno-char8_t", "-fcoroutines",
        "-fsigned-char", "-funsigned-char", "-fshort-wchar", "-fopenmp", "-stdlib=libc++", "-stdlib=libstdc++",
    )
)  # fmt: skip
_PREFIXED = ("-std=", "--std=")


@dataclass(frozen=True, slots=True)
class _Entry:
    file: Path
    directory: Path
    arguments: tuple[str, ...]


def flags(path: Path | None) -> tuple[str, ...] | None:
    """The flags for a file, those of its nearest neighbor if it has none; None without a database.

    The nearest database at or above the file is used, also in a build folder there, up to the repository's root.
    """
    if path is None:
        return None
    database = _database(path.absolute())
    if database is None:
        return None
    try:
        entries = _entries(database, database.stat().st_mtime_ns)
    except OSError:
        return None
    entry = _nearest(Path(os.path.normpath(path.absolute())), entries)
    return None if entry is None else tuple(_allowed(entry.arguments, entry.directory))


def _database(path: Path) -> Path | None:
    for folder in path.parents[:_HIGHEST]:
        for build in _BUILD_FOLDERS:
            if (folder / build / DATABASE).is_file():
                return folder / build / DATABASE
        if (folder / ".git").exists():
            break
    return None


@lru_cache(maxsize=4)
def _entries(database: Path, _stamp: int) -> tuple[_Entry, ...]:
    """The entries of a database that can be read; none if it is not a database."""
    try:
        rows = json.loads(read_regular(database, most=_LARGEST))
    except (OSError, ValueError, RecursionError):
        return ()
    found = (_entry(row, database.parent) for row in (rows if isinstance(rows, list) else ()))
    return tuple(entry for entry in found if entry is not None)


def _entry(row: Any, folder: Path) -> _Entry | None:
    try:
        directory = folder / row["directory"]
        arguments = row.get("arguments")
        if arguments is None:
            arguments = shlex.split(row["command"])
        return _Entry(Path(os.path.normpath(directory / row["file"])), directory, tuple(map(str, arguments[1:])))
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def _nearest(path: Path, entries: Sequence[_Entry]) -> _Entry | None:
    """The entry of the file, else of the one that shares most of its path: headers have no entry."""

    def nearness(entry: _Entry) -> tuple[bool, int, bool]:
        shared, _ = common_ends(entry.file.parts, path.parts)
        return entry.file == path, shared, entry.file.stem == path.stem

    return max(entries, key=nearness, default=None)


def _allowed(arguments: Sequence[str], directory: Path) -> Iterator[str]:
    """The allowed flags, with absolute paths: clang does not run in the build's folder."""
    waiting = iter(arguments)
    for argument in waiting:
        name = next((name for name in (*_WITH_PATH, *_WITH_VALUE) if argument.startswith(name)), None)
        if argument in _ALONE or argument.startswith(_PREFIXED):
            yield argument
        elif name is not None:
            value = argument[len(name) :] or next(waiting, "")
            if value:
                yield from (name, os.path.normpath(directory / value) if name in _WITH_PATH else value)

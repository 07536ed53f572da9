"""The files that a C or C++ text includes by name, since a compiler opens each and may block on it.

A clone can hold a pipe called `list.h` or a link from it to an endless device. Only names in the text are followed;
macros are left to the compiler's own limits of time and memory.
"""

from __future__ import annotations

import re
import stat
import time
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from stet_ls.validators.project_files import read_regular

_NAMED = re.compile(rb"""^[ \t]*\#[ \t]*(?:include|include_next|import|embed)[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)""", re.M)
_FOLDERS = frozenset({"-I", "-iquote", "-isystem", "-idirafter"})
_LARGEST = 20_000_000  # bytes of one file; an amalgamation such as SQLite's has 9 million
_MOST_FILES = 400
_SECONDS = 0.5


def missing_include(text: bytes, path: Path, flags: Sequence[str]) -> Path | None:
    """The first file that the text includes, directly or indirectly, and that is too large or not a regular file.

    `flags` are the compiler's: pairs such as `-I`, folder. System headers are not checked, and at most some hundreds of
    files.
    """
    pairs = list(pairwise(flags))
    folders = tuple(Path(value) for flag, value in pairs if flag in _FOLDERS)
    end = time.monotonic() + _SECONDS
    pending = [(name, path.parent) for name in (*_names(text), *(value for flag, value in pairs if flag == "-include"))]
    seen: set[Path] = set()
    while pending and len(seen) < _MOST_FILES and time.monotonic() < end:
        name, folder = pending.pop()
        found, size, changed = _found(name, (folder, *folders))
        if found is None or found in seen:
            continue
        seen.add(found)
        if size is None or size > _LARGEST:
            return found
        pending += [(each, found.parent) for each in _names_in(found, size, changed)]
    return None


def _found(name: str, folders: Sequence[Path]) -> tuple[Path | None, int | None, int]:
    """The first match of a name, with size and date; the size is None if it is not a regular file."""
    for folder in folders:
        try:
            status = (folder / name).stat()
        except (OSError, ValueError):
            continue
        if stat.S_ISREG(status.st_mode):
            return folder / name, status.st_size, status.st_mtime_ns
        if not stat.S_ISDIR(status.st_mode):
            return folder / name, None, 0
    return None, None, 0


@lru_cache(maxsize=2 * _MOST_FILES)
def _names_in(path: Path, size: int, _changed: int) -> tuple[str, ...]:
    try:
        return tuple(_names(read_regular(path, most=size)))
    except OSError:
        return ()


def _names(text: bytes) -> Iterator[str]:
    for match in _NAMED.finditer(text):
        yield (match[1] or match[2]).decode("utf-8", "surrogateescape")

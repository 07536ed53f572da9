"""The one reader of a project's files. They may be hostile, so reading one is cheap and never blocks.

Only regular files of a bounded size are read, and folders are listed up to a bounded number of entries. A clone can
contain links to endless devices, pipes without a writer, and folders of a million files.
"""

from __future__ import annotations

import errno
import logging
import os
import stat
import tomllib
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

LARGEST_TABLE = 256_000
"""Bytes of a TOML file. People write such files; `tomllib` takes half a second for that many."""

LARGEST_TEXT = 1_000_000
"""Bytes of a file that a person wrote, if the caller has no better limit."""

MOST_ENTRIES = 20_000
"""Maximum number of entries read from one folder."""

TOOL_FOLDERS = frozenset({
    ".git", ".hg", ".svn", ".idea", ".venv", "venv", "virtualenv", "site-packages", "node_modules",
    "bower_components", "jspm_packages", "__pycache__", ".tox", ".nox", ".mypy_cache", ".ruff_cache", ".pytest_cache",
    ".hypothesis", "htmlcov",
})  # fmt: skip
"""Names of folders that tools fill: other people's code, caches, reports. Their content is not the user's."""

BUILD_FOLDERS = TOOL_FOLDERS | {"build", "dist", "target"}
"""The tool folders, and those that builds write to."""

_MOST_PARTS = 300
"""Dots in one line. `tomllib`'s time for a dotted key grows with the square of its parts: 16 kB, 6 s."""

_FLAGS = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_BINARY"))
_CHUNK = 1 << 20

_LOG = logging.getLogger(__name__)
_SKIPPED: dict[Path, None] = {}
_MOST_SKIPPED = 100


def read_regular(path: Path, *, most: int) -> bytes:
    """The bytes of a regular file of at most `most` bytes.

    Raises OSError for everything else, such as a pipe that would block or a link to an endless device.
    """
    data = read_start(path, most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, f"larger than {most:,} bytes", str(path))
    return data


def read_start(path: Path, size: int) -> bytes:
    """The first bytes of a regular file. Raises OSError for everything else.

    The path is checked first, since merely opening a device has effects: `/dev/ptmx` makes a terminal, a watchdog
    starts. The open file is checked again, because the path may have changed in between.
    """
    _demand_regular(_stat(path), path)
    descriptor = os.open(path, _FLAGS)
    try:
        _demand_regular(os.fstat(descriptor), path)
        return _bytes(descriptor, size)
    finally:
        os.close(descriptor)


def read_text(path: Path, *, most: int = LARGEST_TEXT) -> str | None:
    """A file's text, invalid bytes replaced; None if it is not a regular file of at most `most` bytes."""
    try:
        return read_regular(path, most=most).decode("utf-8-sig", "replace")
    except OSError:
        return None


def skipped() -> tuple[Path, ...]:
    """Files that were not read in this process because they are, or lead to, a pipe, device or socket; each once."""
    return tuple(_SKIPPED)


def is_regular(path: Path) -> bool:
    """True if the path leads to a regular file; nothing is opened."""
    try:
        return stat.S_ISREG(_stat(path).st_mode)
    except OSError:
        return False


def read_table(path: Path) -> dict[str, Any]:
    """The table of a TOML file. Raises OSError, and ValueError for invalid or unreasonable TOML."""
    return parse_table(read_regular(path, most=LARGEST_TABLE).decode("utf-8-sig"))


def parse_table(text: str) -> dict[str, Any]:
    """The table of a TOML text. Raises ValueError as above."""
    if any(line.count(".") > _MOST_PARTS for line in text.splitlines()):
        raise ValueError(f"a line with more than {_MOST_PARTS} dots")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def inner_table(table: Mapping[str, Any], *keys: str) -> Mapping[str, Any]:
    """The table under the keys; empty if there is none."""
    for key in keys:
        found = table.get(key)
        table = found if isinstance(found, Mapping) else {}
    return table


def entries(folder: Path, *, most: int = MOST_ENTRIES) -> list[os.DirEntry[str]]:
    """The entries of a folder by name; of a folder with more than `most`, the ones that come first on the disk.

    An empty list if it cannot be listed. Sorting comes after the limit: a huge folder is not read completely.
    """
    try:
        with os.scandir(folder) as found:
            return sorted(islice(found, most), key=lambda entry: entry.name)
    except OSError:
        return []


def matching(folder: Path, pattern: str, *, most: int = MOST_ENTRIES) -> Iterator[Path]:
    """The paths in a folder whose names match a shell pattern, by name; links and all other kinds are included."""
    return (folder / entry.name for entry in entries(folder, most=most) if Path(entry.name).match(pattern))


def _stat(path: Path) -> os.stat_result:
    try:
        return path.stat()
    except ValueError:  # a NUL in it
        raise OSError(errno.EINVAL, "not a path", str(path)) from None


def _demand_regular(status: os.stat_result, path: Path) -> None:
    if not stat.S_ISREG(status.st_mode):
        if not stat.S_ISDIR(status.st_mode) and path not in _SKIPPED and len(_SKIPPED) < _MOST_SKIPPED:
            _SKIPPED[path] = None
            _LOG.info("%s is skipped: not a regular file", path)
        raise OSError(errno.EINVAL, "not a regular file", str(path))


def _bytes(descriptor: int, size: int) -> bytes:
    """Up to `size` bytes. A kernel file that would block its reader raises BlockingIOError."""
    parts: list[bytes] = []
    while size > 0 and (part := os.read(descriptor, min(size, _CHUNK))):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)

"""Reading a project's own files. Whoever wrote them may wish us ill, so reading one is cheap and never waits."""

from __future__ import annotations

import errno
import os
import stat
import tomllib
from pathlib import Path
from typing import Any

LARGEST_TABLE = 256_000
"""Bytes of a TOML file. Such files are written by hand; `tomllib` takes half a second for that many."""

_MOST_PARTS = 300
"""Dots in one line. The time that `tomllib` takes for a dotted key grows with the square of its parts: 16 kB, 6 s."""


def read_regular(path: Path, *, most: int) -> bytes:
    """The bytes of a regular file of at most `most` bytes.

    Raises OSError for everything else, such as a pipe that would never be opened or a link to an endless device.
    """
    data = read_start(path, most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, f"it is larger than {most:,} bytes", str(path))
    return data


def read_start(path: Path, size: int) -> bytes:
    """The first bytes of a regular file. Raises OSError for everything else.

    The question is put to the open file: what the path names may change between two looks.
    """
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is no regular file", str(path))
        return file.read(size)


def read_table(path: Path) -> dict[str, Any]:
    """The table of a TOML file. Raises OSError, and ValueError for what is no TOML that a person would write."""
    return parse_table(read_regular(path, most=LARGEST_TABLE).decode("utf-8-sig"))


def parse_table(text: str) -> dict[str, Any]:
    """The table of a TOML text. Raises ValueError as above."""
    if any(line.count(".") > _MOST_PARTS for line in text.splitlines()):
        raise ValueError(f"a line with more than {_MOST_PARTS} dots")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None

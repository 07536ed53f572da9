"""Whether one path is inside another, with links resolved: a name alone proves nothing."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable
from pathlib import Path


def is_inside(path: Path, folder: Path) -> bool:
    """True if `path` is `folder` or is in it, with links and `..` resolved on both sides.

    Neither has to exist. On file systems that ignore case or Unicode form, the spelling does not matter either.
    """
    real, top = real_path(path), real_path(folder)
    if real is None or top is None:
        return False
    if real.is_relative_to(top):
        return True
    above = Path(*real.parts[: len(top.parts)])
    return len(real.parts) >= len(top.parts) and _folded(above) == _folded(top) and _is_same(above, top)


def is_inside_any(path: Path, folders: Iterable[Path]) -> bool:
    """True if `path` is inside one of the folders."""
    return any(is_inside(path, folder) for folder in folders)


def real_path(path: Path) -> Path | None:
    """The resolved path; None if it is not valid."""
    try:
        return Path(os.path.realpath(path))
    except (OSError, ValueError):  # a NUL in it
        return None


def _folded(path: Path) -> str:
    return unicodedata.normalize("NFC", str(path)).casefold()


def _is_same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False

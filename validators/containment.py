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
    try:
        real, top = os.path.realpath(path), os.path.realpath(folder)
    except (OSError, ValueError):  # a NUL in it
        return False
    if real == top or real.startswith(top if top.endswith(os.sep) else f"{top}{os.sep}"):
        return True
    return _folded(real).startswith(_folded(top)) and _is_otherwise_inside(Path(real), Path(top))


def _is_otherwise_inside(real: Path, top: Path) -> bool:
    """Whether the file system knows the folder by the spelling in a path that is another one."""
    above = Path(*real.parts[: len(top.parts)])
    return len(real.parts) >= len(top.parts) and _folded(str(above)) == _folded(str(top)) and _is_same(above, top)


def is_inside_any(path: Path, folders: Iterable[Path]) -> bool:
    """True if `path` is inside one of the folders."""
    return any(is_inside(path, folder) for folder in folders)


def real_path(path: Path) -> Path | None:
    """The resolved path; None if it is not valid."""
    try:
        return Path(os.path.realpath(path))
    except (OSError, ValueError):  # a NUL in it
        return None


def _folded(path: str) -> str:
    return unicodedata.normalize("NFC", path).casefold()


def _is_same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False

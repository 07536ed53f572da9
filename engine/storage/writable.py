"""Which of Stet's folders are writable now, and the parts of jobs that are off while they are not.

No job fails because of it: writing is skipped, and code runs from a temporary folder (`sandbox/files/run_folder.py`).
"""

from __future__ import annotations

import errno
import os
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

ROOM = 1_000_000
"""Free bytes below which a disk counts as full."""

FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS})
"""Errors of a whole disk, not of a single folder."""

_TRIED = b"\0" * 4096


@dataclass(frozen=True, slots=True)
class WriteObstacle:
    """Why `place`, a folder or one above it, is not writable; `disk`: its device's number if all of that is."""

    place: Path
    reason: str
    disk: int | None = None

    @classmethod
    def of(cls, place: Path, error: OSError) -> WriteObstacle:
        """The obstacle for an error that occurred at `place`."""
        disk = None
        if error.errno in FULL:
            with suppress(OSError):
                disk = place.stat().st_dev
        return cls(place, error.strerror or str(error), disk)

    def __str__(self) -> str:
        return f"`{self.place}` is not writable ({self.reason})"


def obstacle(folder: Path) -> WriteObstacle | None:
    """Why no file can be written into `folder`, which need not exist; None if one can. Writes a file without a name."""
    place = folder
    try:
        place = next(each for each in (folder, *folder.parents) if each.exists())
        if not place.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        room = os.statvfs(place) if hasattr(os, "statvfs") else None
        if room is not None and room.f_bavail * room.f_frsize < ROOM:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        with tempfile.TemporaryFile(dir=place, buffering=0) as file:
            file.write(_TRIED)
    except OSError as error:
        return WriteObstacle.of(place, error)
    return None


def unwritable_warnings(parts: Mapping[str, Path], runs: Path) -> Iterator[str]:
    """One sentence for each obstacle: the parts that it turns off, and the way out. Writes to the disk.

    `parts` are the folders of enabled parts, each by its name in a sentence; `runs` is where code runs.
    """
    off: dict[tuple[object, ...], list[tuple[str, WriteObstacle]]] = defaultdict(list)
    for name, folder in parts.items():
        if (found := obstacle(folder)) is not None:
            off[_cause(found)].append((name, found))
    scratch = obstacle(runs)
    for cause, each in off.items():
        place = Path(os.path.commonpath([found.place for _, found in each]))
        names = ", ".join(name for name, _ in each)
        instead = "; code runs from a temporary folder" if scratch and _cause(scratch) == cause else ""
        yield f"{replace(each[0][1], place=place)}. Disabled until it is: {names}{instead}. {WAY_OUT}."


def _cause(found: WriteObstacle) -> tuple[object, ...]:
    """A key shared by all folders with the same obstacle."""
    return (found.reason, found.place if found.disk is None else found.disk)


WAY_OUT = "Make room or make it writable, or set `STET_HOME` to another folder"

"""How well a run was isolated, as shown to the user."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any


class IsolationLevel(StrEnum):
    """From no wall to all of them. A level depends on what was probed on this machine, not on a backend's name."""

    NONE = "none"
    PARTIAL = "partial"
    STRONG = "strong"
    FULL = "full"

    def reaches(self, minimum: IsolationLevel) -> bool:
        """True if this level is `minimum` or better."""
        levels = list(IsolationLevel)
        return levels.index(self) >= levels.index(minimum)


class Wall(StrEnum):
    """What a run may be kept from. FILES_SEEN: asking whether a file exists, and how large and how old it is."""

    FILES_READ = "fs_read"
    FILES_WRITE = "fs_write"
    FILES_SEEN = "fs_seen"
    NETWORK = "network"
    UNIX_SOCKETS = "unix_sockets"
    SIGNALS = "signals"
    PROCESSES = "procs"
    MEMORY = "memory"
    DISK = "disk"
    TREE_KILL = "tree_kill"
    ENVIRONMENT = "environment"


class WallState(StrEnum):
    """Whether a wall holds. PARTIAL: only its worst gaps are closed."""

    YES = "yes"
    PARTIAL = "partial"
    NO = "no"


@dataclass(frozen=True, slots=True)
class IsolationReport:
    """The isolation of a run. `why_not_stronger` and `advice` (a command to run) are "" at level full."""

    backend: str
    version: str
    level: IsolationLevel
    enforced: Mapping[Wall, WallState] = field(default_factory=dict)
    why_not_stronger: str = ""
    advice: str = ""

    def to_json(self) -> dict[str, Any]:
        """The report with the field names of design 4.5."""
        return asdict(self)

    def __str__(self) -> str:
        return f"{self.backend} ({self.level})"


def weakest(*reports: IsolationReport | None) -> IsolationReport | None:
    """The report of the weakest sandbox, the first of equals; None if there is none."""
    known = [report for report in reports if report is not None]
    return min(known, key=lambda report: list(IsolationLevel).index(report.level), default=None)


def level_of(enforced: Mapping[Wall, WallState]) -> IsolationLevel:
    """The level that a set of walls reaches.

    FULL: all walls hold. STRONG: nothing can be read, written, reached or left behind, but a wall against waste
    (memory, disk, processes) may have gaps, and a guessed file name can be confirmed. PARTIAL: files cannot be written
    and the process tree ends. NONE: anything less.
    """
    if all(enforced.get(wall) is WallState.YES for wall in Wall):
        return IsolationLevel.FULL
    if all(enforced.get(wall) is WallState.YES for wall in _STRONG):
        return IsolationLevel.STRONG
    if all(enforced.get(wall) is WallState.YES for wall in _PARTIAL):
        return IsolationLevel.PARTIAL
    return IsolationLevel.NONE


_PARTIAL = (Wall.FILES_WRITE, Wall.TREE_KILL, Wall.ENVIRONMENT)
_STRONG = (*_PARTIAL, Wall.FILES_READ, Wall.NETWORK, Wall.UNIX_SOCKETS, Wall.SIGNALS)

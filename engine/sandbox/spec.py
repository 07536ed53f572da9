"""The specification of a run and its result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from stet_ls.engine.errors import StetError
from stet_ls.engine.sandbox.isolation import IsolationReport

_KIB = 1024
_MIB = 1024 * _KIB
_LEAST_WALL_FACTOR = 1.5
"""A smaller factor would report an endless program on an idle machine as starved: some waiting always occurs."""
_LEAST = 1.0
"""Seconds for a run that begins when no time is left."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that a run may use; times in seconds, sizes in bytes.

    `seconds` are the run's own: waiting for a core is not counted (`procfs.Clock`), so that a busy machine ends no
    run that would have finished. On a very busy machine at most `wall_factor` times as many seconds may pass (`wall`).

    `data` is RLIMIT_DATA of one process: RLIMIT_AS breaks Node under 1 GB and Java under 4 GB. `memory` is what the
    whole tree may hold, which no rlimit bounds. `output` is how much of each stream is kept; four times that much in
    all ends the run. `report` is how much of its report is kept.
    """

    seconds: float = 10.0
    wall_factor: float = 6.0
    data: int = 1024 * _MIB
    memory: int = 1536 * _MIB
    processes: int = 64
    file: int = 32 * _MIB
    scratch: int = 64 * _MIB
    scratch_files: int = 5_000
    output: int = _MIB
    open_files: int = 512
    report: int = 8 * _MIB

    @property
    def wall(self) -> float:
        """Seconds that may pass in total."""
        return self.seconds * self.wall_factor

    def within(self, left: float) -> Limits:
        """These limits for a caller with `left` seconds to wait, plus half as many again for the start and the end.

        Its own seconds do not change: a run that is cut off before they are used up is STARVED, not reported as
        endless.
        """
        wall = max(left, _LEAST_WALL_FACTOR * min(self.seconds, max(left, _LEAST)))
        return replace(self, wall_factor=min(self.wall_factor, wall / self.seconds))


TESTS = Limits(seconds=30.0)
COMPILE = Limits(seconds=60.0)


@dataclass(frozen=True, slots=True)
class Overlay:
    """A workspace as the run sees it: at its own path, writable in the sandbox and untouched outside.

    `buffers` are unsaved texts by relative path, which hide the files on the disk. Secrets and `.git` are masked.
    """

    root: Path
    buffers: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunSpec:
    """One run. Its standard input is empty and it inherits nothing.

    `files` are put into the working folder, by relative path; the folder is `/box`, or the overlay's root. `binds` are
    shown read-only at their own paths. `artifacts` are relative paths whose regular files come back. With `report` the
    run finds the number of a descriptor to write to in `BOX_REPORT_FD`. `warm` are modules that a Python may have
    imported before the run begins: a prebuilt sandbox may then serve the run. `program` is the text of the script that
    such a run starts, if all of its kind start the same: it is then compiled ahead, too. `read_only` are files of the
    overlay that the run cannot change, by relative path; a sandbox without mounts does not enforce it.
    """

    argv: tuple[str, ...]
    files: Mapping[str, bytes] = field(default_factory=dict)
    binds: tuple[Path, ...] = ()
    overlay: Overlay | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    limits: Limits = Limits()
    artifacts: tuple[str, ...] = ()
    report: bool = False
    warm: tuple[str, ...] = ()
    program: str = ""
    read_only: tuple[str, ...] = ()


class RunStatus(StrEnum):
    """How a run ended. Only OK and FAILED depend on the program alone; they differ only in `exit`.

    TIMEOUT: its own seconds were used up. STARVED: the total time was over before that.
    """

    OK = "ok"
    FAILED = "failed"
    TIMEOUT = "timeout"
    STARVED = "starved"
    MEMORY = "memory"
    OUTPUT = "output"
    DISK = "disk"
    PROCESSES = "procs"
    KILLED = "killed"
    NO_RUNNER = "no_runner"
    REFUSED = "refused"


def why_stopped(status: RunStatus, limits: Limits) -> str:
    """Which limit a run broke, as a sentence about it; "" if it ended by itself or by a signal."""
    return {
        RunStatus.TIMEOUT: f"it ran longer than {limits.seconds:.0f} s and was stopped",
        RunStatus.STARVED: "the machine is too busy: it got too little time to finish",
        RunStatus.MEMORY: f"it needed more than {limits.memory // _MIB:,} MB of memory",
        RunStatus.OUTPUT: f"it printed more than {4 * limits.output // 1024:,} KB and was stopped",
        RunStatus.DISK: f"it wrote more than {limits.scratch // _MIB} MB of files and was stopped",
        RunStatus.PROCESSES: f"it started more than {limits.processes} processes",
        RunStatus.NO_RUNNER: "its program is not in the sandbox",
        RunStatus.REFUSED: "the sandbox refused it",
    }.get(status, "")


@dataclass(frozen=True, slots=True)
class RunResult:
    """The result of a run. `exit` is None if a signal ended it; `peak_rss` is the tree's, in bytes.

    `seconds` is wall-clock time. In `waited` of them it had work to do and got no core; `computed` is the CPU time of
    all of its processes, and None if the system does not report it.

    `stdout` and `stderr` keep the first and the last part of the output; `truncated` is True if some is missing.
    """

    status: RunStatus
    isolation: IsolationReport
    exit: int | None = None
    signal: int | None = None
    stdout: bytes = b""
    stderr: bytes = b""
    truncated: bool = False
    seconds: float = 0.0
    waited: float = 0.0
    computed: float | None = None
    peak_rss: int = 0
    report: bytes = field(default=b"", repr=False)
    artifacts: Mapping[str, bytes] = field(default_factory=dict)
    detail: str = ""

    @property
    def lasted(self) -> str:
        """The duration in words: its main activity, and the delay added by a busy machine."""
        own = self.seconds - self.waited
        idle = self.computed is not None and self.computed < own / 2
        duration = f"{own:.0f} s" + (" without doing anything" if idle else "")
        return f"{duration} ({self.waited:.0f} more waiting for a core)" if self.waited >= 1 else duration

    def to_json(self) -> dict[str, Any]:
        """The result with the field names of design 4.5."""
        return {
            "status": self.status.value,
            "exit": self.exit,
            "signal": self.signal,
            "stdout": self.stdout.decode("utf-8", "replace"),
            "stderr": self.stderr.decode("utf-8", "replace"),
            "truncated": self.truncated,
            "seconds": round(self.seconds, 3),
            "waited": round(self.waited, 3),
            "peak_rss": self.peak_rss,
            "detail": self.detail,
            "isolation": self.isolation.to_json(),
        }


class BoxError(StetError):
    """The sandbox could not be built. The text is the tool's or the kernel's error message."""


class Box(Protocol):
    """Where commands run: the `Sandbox` with its policy, one backend, or in tests the bare machine."""

    async def run(self, spec: RunSpec) -> RunResult:
        """Runs a command."""

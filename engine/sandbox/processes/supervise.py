"""One child process and its descendants: captures its output, monitors its use, ensures its end."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from stet_ls.engine.sandbox.files.disk_usage import DiskUsage
from stet_ls.engine.sandbox.isolation import IsolationReport
from stet_ls.engine.sandbox.processes import process_tree
from stet_ls.engine.sandbox.processes.box_start import BoxStart
from stet_ls.engine.sandbox.processes.procfs import Clock
from stet_ls.engine.sandbox.spec import Limits, RunResult, RunStatus

_CHUNK = 65_536
_PERIOD = 0.04
_IDLE_PERIOD = 0.5  # for a sandbox that waits for its job
_DRAIN = 0.5
_MEASURED = ("stdout", "stderr", "truncated", "seconds", "waited", "computed")
"""Fields that a run's result has too."""


@dataclass(slots=True)
class ExitInfo:
    """How a child ended. `why` is set if it was stopped; otherwise `returncode` is the system's.

    Times as in `RunResult`.
    """

    returncode: int = 0
    why: RunStatus | None = None
    stdout: bytes = b""
    stderr: bytes = b""
    truncated: bool = False
    seconds: float = 0.0
    waited: float = 0.0
    computed: float | None = None
    peak: int = 0
    extra: dict[str, bytes] = field(default_factory=dict)

    def result(self, status: RunStatus, isolation: IsolationReport, **more: Any) -> RunResult:
        """The result of a run that ended like this, with the report of its sandbox; `more` are its other fields."""
        measured = {name: getattr(self, name) for name in _MEASURED}
        report = self.extra.get("report", b"")
        return RunResult(status, isolation, peak_rss=self.peak, report=report, **measured, **more)


SIGNALED: Mapping[int, tuple[RunStatus, str]] = {
    24: (RunStatus.TIMEOUT, "the CPU time limit was reached"),  # SIGXCPU
    25: (RunStatus.DISK, "a file exceeded its size limit"),  # SIGXFSZ
    31: (RunStatus.KILLED, "a forbidden system call"),  # SIGSYS
}
"""The status, and a note, of a run that one of these signals ended."""


def memory_file(content: bytes) -> int:
    """A descriptor from which `content` can be read once."""
    descriptor = os.memfd_create("stet", os.MFD_CLOEXEC)
    with os.fdopen(descriptor, "wb", closefd=False) as file:
        file.write(content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


@dataclass(slots=True)
class Capture:
    """The first and the last part of a stream, with the first error and the summary."""

    limit: int
    total: int = 0
    head: bytearray = field(default_factory=bytearray)
    tail: bytearray = field(default_factory=bytearray)

    def add(self, chunk: bytes) -> None:
        """Adds output."""
        self.total += len(chunk)
        room = self.limit // 4 - len(self.head)
        if room > 0:
            self.head += chunk[:room]
            chunk = chunk[room:]
        self.tail += chunk
        keep = self.limit - self.limit // 4
        if len(self.tail) > 2 * keep:
            del self.tail[:-keep]

    @property
    def truncated(self) -> bool:
        """True if a middle part was dropped."""
        return self.total > self.limit

    def kept(self) -> bytes:
        """The kept output, with a line that states how much was dropped."""
        if not self.truncated:
            return bytes(self.head + self.tail)
        keep = self.limit - self.limit // 4
        missing = self.total - self.limit
        return bytes(self.head) + f"\n[{missing} bytes left out]\n".encode() + bytes(self.tail[-keep:])


async def supervise(
    argv: Sequence[str],
    *,
    env: dict[str, str],
    limits: Limits,
    writable: tuple[str, ...] = (),
    growth: DiskUsage | None = None,
    pass_fds: tuple[int, ...] = (),
    pipes: dict[str, int] | None = None,
    stop: Callable[[int], None] | None = None,
    start: BoxStart | None = None,
) -> ExitInfo:
    """Runs `argv` until it ends or passes a limit; the child and its tree are gone on return.

    `writable` are file systems of the sandbox, `growth` folders on the disk. `pass_fds` are closed here once the child
    has them; `pipes` are reading ends by name, whose bytes come back in `extra`. Cancellation kills the tree first.
    `stop` ends the child and all below it; without it they are killed. With `start` the time counts from its beginning.
    Raises OSError if the program cannot be started.
    """
    started = time.monotonic()
    held: list[int] = []
    try:
        child = await started_whole(
            argv,
            stop or (lambda leader: held.extend(process_tree.kill(leader))),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=env,
            cwd="/",
            pass_fds=pass_fds,
            start_new_session=True,
        )
    except BaseException:
        for descriptor in (pipes or {}).values():
            os.close(descriptor)
        await process_tree.wait_until_ended(held)
        raise
    finally:
        for descriptor in pass_fds:
            os.close(descriptor)
    ended = ExitInfo()
    output, errors = Capture(limits.output), Capture(limits.output)
    extra = {name: Capture(limits.report) for name in pipes or {}}
    readers: list[asyncio.Task[None]] = []
    try:
        assert child.stdout
        assert child.stderr
        readers = [
            asyncio.create_task(_read(stream, into))
            for stream, into in ((child.stdout, output), (child.stderr, errors))
        ]
        readers += [asyncio.create_task(_read_pipe(number, extra[name])) for name, number in (pipes or {}).items()]
        watched = asyncio.create_task(child.wait())

        def look() -> RunStatus | None:
            use = process_tree.measure(child.pid, writable, limits)
            if growth is not None and growth.is_too_much():
                use = replace(use, scratch=limits.scratch)
            ended.peak = max(ended.peak, use.memory)
            too_much = output.total + errors.total > 4 * limits.output
            return use.beyond(limits) or (RunStatus.OUTPUT if too_much else None)

        if start is not None:
            ended.why = await _until_begun(start, watched, look)
            started = start.at or time.monotonic()
        clock = Clock(child.pid, started)
        if ended.why is None:
            ended.why = await _until_ended(watched, look, clock, limits)
        if ended.why is not None:
            await _end(child, stop)
            await watched
        ended.returncode = watched.result()
        # Processes that still hold a pipe have ended or will soon; the data in the pipe is still needed.
        await asyncio.wait(readers, timeout=_DRAIN)
    finally:
        # Once the child is reaped its process id may be another's.
        if child.returncode is None:
            await _end(child, stop)
        for reader in readers:
            reader.cancel()
        await asyncio.gather(*readers, return_exceptions=True)
    ended.stdout, ended.stderr = output.kept(), errors.kept()
    ended.truncated = output.truncated or errors.truncated
    ended.extra = {name: capture.kept() for name, capture in extra.items()}
    ended.seconds = time.monotonic() - started
    ended.waited, ended.computed = clock.waited, clock.computed
    return ended


async def started_whole(argv: Sequence[str], stop: Callable[[int], None], **options: Any) -> asyncio.subprocess.Process:
    """Starts a child. On cancellation it waits for the start and ends the child.

    asyncio's own way waits forever if it is cancelled between the start and the connection of the pipes.
    """
    starting = asyncio.ensure_future(asyncio.create_subprocess_exec(*argv, **options))
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        await asyncio.wait({starting})
        if not starting.cancelled() and starting.exception() is None:
            child = starting.result()
            stop(child.pid)
            await child.communicate()
        raise


async def _until_begun(
    start: BoxStart, watched: asyncio.Task[int], look: Callable[[], RunStatus | None]
) -> RunStatus | None:
    """Waits until the job arrives or the child ends; the limits apply before the job, too."""
    begun = asyncio.create_task(start.begun.wait())
    why = None
    try:
        while why is None and not watched.done() and not begun.done():
            await asyncio.wait({watched, begun}, timeout=_IDLE_PERIOD, return_when=asyncio.FIRST_COMPLETED)
            why = None if watched.done() or begun.done() else look()
    finally:
        begun.cancel()
    return why


async def _until_ended(
    watched: asyncio.Task[int], look: Callable[[], RunStatus | None], clock: Clock, limits: Limits
) -> RunStatus | None:
    """Waits until the child ends; returns the limit that it passes before, if any."""
    why = None
    while why is None and not watched.done():
        left = min(limits.seconds - clock.own, limits.wall - clock.passed)
        await asyncio.wait({watched}, timeout=min(_PERIOD, max(left, 0)))
        if not watched.done():
            why = look() or _late(clock, limits)
    return why


def _late(clock: Clock, limits: Limits) -> RunStatus | None:
    """TIMEOUT once its own seconds are used up; STARVED if the total time is over before that."""
    if clock.is_late(limits.seconds):
        return RunStatus.TIMEOUT
    if clock.passed >= limits.wall:
        return RunStatus.TIMEOUT if clock.read() >= limits.seconds else RunStatus.STARVED
    return None


async def _end(child: asyncio.subprocess.Process, stop: Callable[[int], None] | None) -> None:
    """Ends a child and waits until all below it are gone, too."""
    if stop is None:
        held = process_tree.kill(child.pid)
        await asyncio.gather(child.wait(), process_tree.wait_until_ended(held))
    else:
        stop(child.pid)
        await child.wait()


async def _read(stream: asyncio.StreamReader, into: Capture) -> None:
    while chunk := await stream.read(_CHUNK):
        into.add(chunk)


async def _read_pipe(descriptor: int, into: Capture) -> None:
    stream = asyncio.StreamReader()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(stream), os.fdopen(descriptor, "rb", buffering=0)
    )
    try:
        await _read(stream, into)
    finally:
        transport.close()

"""One child process and all that it starts: its output taken in, its use watched, its end certain."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from stet_ls.engine.sandbox.spec import Limits, Status
from stet_ls.engine.sandbox.tree import Use

_CHUNK = 65_536
_PERIOD = 0.04
_DRAIN = 0.5
_REPORT = 8 * 1024 * 1024


@dataclass(slots=True)
class Ended:
    """How a child ended. `why` is set if it was stopped; otherwise `returncode` is what the system says."""

    returncode: int = 0
    why: Status | None = None
    stdout: bytes = b""
    stderr: bytes = b""
    truncated: bool = False
    seconds: float = 0.0
    peak: int = 0
    extra: dict[str, bytes] = field(default_factory=dict)


@dataclass(slots=True)
class Capture:
    """The first and the last part of a stream: the first error and the summary are what one wants to read."""

    limit: int
    total: int = 0
    head: bytearray = field(default_factory=bytearray)
    tail: bytearray = field(default_factory=bytearray)

    def add(self, chunk: bytes) -> None:
        """Takes in what came."""
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
        """True if something in the middle is gone."""
        return self.total > self.limit

    def kept(self) -> bytes:
        """What is left, with a line that says how much is not."""
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
    measure: Callable[[int], Use],
    pass_fds: tuple[int, ...] = (),
    pipes: dict[str, int] | None = None,
    cwd: str = "/",
) -> Ended:
    """Runs `argv` to its end, or to the first limit that it passes; the child and its tree are gone on return.

    `measure` tells from the child's process id what its tree uses. `pass_fds` are closed here once the child has them;
    `pipes` are reading ends by name, whose bytes come back in `extra`. Cancelling kills the tree first. Raises OSError
    if the program cannot be started.
    """
    started = time.monotonic()
    try:
        child = await asyncio.create_subprocess_exec(
            *argv,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=env,
            cwd=cwd,
            pass_fds=pass_fds,
            start_new_session=True,
        )
    except BaseException:
        for descriptor in (pipes or {}).values():
            os.close(descriptor)
        raise
    finally:
        for descriptor in pass_fds:
            os.close(descriptor)
    ended = Ended()
    output, errors = Capture(limits.output), Capture(limits.output)
    extra = {name: Capture(_REPORT) for name in pipes or {}}
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
        end = started + limits.wall
        while not watched.done():
            await asyncio.wait({watched}, timeout=min(_PERIOD, max(end - time.monotonic(), 0)))
            if watched.done():
                break
            use = measure(child.pid)
            ended.peak = max(ended.peak, use.memory)
            ended.why = use.beyond(limits)
            if ended.why is None and output.total + errors.total > 4 * limits.output:
                ended.why = Status.OUTPUT
            if ended.why is None and time.monotonic() >= end:
                ended.why = Status.TIMEOUT
            if ended.why is not None:
                kill_group(child.pid)
                await watched
        ended.returncode = watched.result()
        # Whoever still holds a pipe is dead or about to be; what is in the pipe is wanted.
        await asyncio.wait(readers, timeout=_DRAIN)
    finally:
        # Once the child is reaped its number may be another's.
        if child.returncode is None:
            kill_group(child.pid)
            await child.wait()
        for reader in readers:
            reader.cancel()
        await asyncio.gather(*readers, return_exceptions=True)
    ended.stdout, ended.stderr = output.kept(), errors.kept()
    ended.truncated = output.truncated or errors.truncated
    ended.extra = {name: capture.kept() for name, capture in extra.items()}
    ended.seconds = time.monotonic() - started
    return ended


def kill_group(leader: int) -> None:
    """Kills a process group that was started here; one that is gone already is no error."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


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

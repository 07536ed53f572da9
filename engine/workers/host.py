"""The child's side: starts the work, publishes its address, and exits when it is no longer needed.

if __name__ == "__main__":
    host(MyWork(arguments), idle_seconds=600)
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol, TextIO

from stet_ls.engine.workers.handshake import LINE_LIMIT, LOOPBACK, Handshake, greet, new_key, read_line, write_line

_log = logging.getLogger(__name__)

_GREETING_SECONDS = 10.0
"""For the proofs; on a loaded machine a process may wait that long for a processor."""

_LOOKS = 4
"""Activity checks per idle period. Each check costs the work a little."""


class ChildWork(Protocol):
    """The work of a child."""

    def start(self) -> Mapping[str, Any]:
        """Prepares, without a time limit, and returns what users of the child must know (addresses, keys)."""

    def active(self) -> bool:
        """True if there was work since the last call. Called in a thread, a few times per idle period."""


@dataclass(frozen=True, slots=True)
class IdleLimits:
    """How long a child stays, in seconds: for its first lease, after its last one, and without work."""

    first_lease: float = 30.0
    last_lease: float = 2.0
    idle: float = 600.0


def host(work: ChildWork, limits: IdleLimits) -> NoReturn:
    """Runs `work` until it is no longer needed, then ends the process with all its native threads."""
    starter = _take_stdout()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(process)d %(message)s")
    code = 1
    try:
        info = work.start()
        _log.info("leaving: %s", asyncio.run(_serve(work, limits, info, starter)))
        code = 0
    except Exception:  # noqa: BLE001  # the process ends here, so only the log can report it
        _log.exception("child process failed")
    finally:
        logging.shutdown()
        # A normal exit would wait for the computations of native threads.
        os._exit(code)


def _take_stdout() -> TextIO:
    """Reserves standard output for the handshake; later prints of libraries go to the log."""
    starter = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return starter


async def _serve(work: ChildWork, limits: IdleLimits, info: Mapping[str, Any], starter: TextIO) -> str:
    return await _Control(work, limits).serve(info, starter)


class _Control:
    """The control port: counts leases and decides when to exit. Created inside the running loop."""

    def __init__(self, work: ChildWork, limits: IdleLimits) -> None:
        self._work = work
        self._limits = limits
        self._key = new_key()
        self._leases = 0
        self._touched = False
        self._loop = asyncio.get_running_loop()
        self._leaving: asyncio.Future[str] = self._loop.create_future()
        self._alone = self._loop.call_later(limits.first_lease, self._leave, "no first lease")

    async def serve(self, info: Mapping[str, Any], starter: TextIO) -> str:
        """Announces itself and serves until it is time to exit; returns the reason."""
        server = await asyncio.start_server(self._serve_connection, LOOPBACK, 0, limit=LINE_LIMIT)
        port = server.sockets[0].getsockname()[1]
        with starter:
            starter.write(Handshake(os.getpid(), port, self._key, info).to_json() + "\n")
        watch = asyncio.create_task(self._watch_idle())
        reason = await self._leaving
        watch.cancel()
        server.close()  # refuses new connections; those users start their own child
        return reason

    def _leave(self, reason: str) -> None:
        if not self._leaving.done():
            self._leaving.set_result(reason)

    async def _serve_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, from the first line to the last."""
        try:
            async with asyncio.timeout(_GREETING_SECONDS):
                known = await greet(self._key, reader, writer)
            if known:
                await self._lease(reader, writer)
        except TimeoutError:
            _log.warning("a connection sent nothing")
        except asyncio.CancelledError:
            pass  # the exit ends every connection; streams would log it as a failure
        finally:
            writer.close()

    async def _lease(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._leases += 1
        self._touched = True
        self._alone.cancel()
        try:
            write_line(writer, {"welcome": True})
            while (line := await read_line(reader)) is not None:
                self._touched = True
                write_line(writer, line)
        finally:
            self._leases -= 1
            if self._leases == 0:
                self._alone = self._loop.call_later(self._limits.last_lease, self._leave, "no leases left")

    async def _watch_idle(self) -> None:
        """Exits after an idle period. Each check notices running work, so a long job is never cut."""
        step = self._limits.idle / _LOOKS
        quiet = 0
        while quiet < _LOOKS:
            await asyncio.sleep(step)
            busy = await asyncio.to_thread(self._work.active)
            quiet = 0 if busy or self._touched else quiet + 1
            self._touched = False
        self._leave("idle")

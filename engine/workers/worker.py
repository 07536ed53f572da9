"""The client's side: one kind of child, found or started on demand, and held by a lease."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from stet_ls.engine.errors import PolicyError, WorkerError
from stet_ls.engine.storage.file_lock import hold_async
from stet_ls.engine.storage.private_files import private_folder, read_private, write_private
from stet_ls.engine.storage.writable import obstacle
from stet_ls.engine.workers.handshake import Handshake
from stet_ls.engine.workers.lease import Lease, connect
from stet_ls.engine.workers.spawn import spawn

_log = logging.getLogger(__name__)

_BACKOFF = (0.0, 0.0, 1.0, 5.0, 15.0, 60.0)
"""Seconds until the next start is tried, by failures in a row; the last value applies to all further failures."""

_EARLY_SECONDS = 10.0
"""A child lost sooner than this after its start has failed: a leased child does not exit so early."""


@dataclass(frozen=True, slots=True)
class ChildSpec:
    """A kind of child: `python -m module arguments`, ready within `deadline` seconds.

    `identity` separates incompatible children, such as versions and models: all processes of a user share the one child
    of a name and identity. With None each Worker has its own child.
    """

    name: str
    module: str
    arguments: tuple[str, ...] = ()
    identity: str | None = None
    deadline: float = 60.0


class Worker:
    """One child of a kind. The first lease starts it, and restarts it if it is gone. Belongs to one event loop."""

    def __init__(self, kind: ChildSpec, *, runtime: Path, logs: Path) -> None:
        self._kind = kind
        self._folder = runtime / "workers"
        self._log_file = logs / f"{kind.name}.log"
        self._choosing = asyncio.Lock()
        self._lease: Lease | None = None
        self._leased_at = 0.0
        self._failures = 0
        self._not_before = 0.0
        self._last_error = ""

    async def lease(self, on_start: Callable[[], None] = lambda: None) -> Lease:
        """The lease on a living child; `on_start` is called if the call has to start or await one.

        Raises WorkerError if it does not start, at once during the pause after failures; PolicyError if no folder is
        private enough for its key. If that folder cannot be written, this Worker gets its own child.
        """
        async with self._choosing:
            if self._lease is not None and await self._lease.touch():
                return self._lease
            await self._forget_lost()
            self._lease = await self._find_or_start(on_start)
            self._leased_at = asyncio.get_running_loop().time()
            return self._lease

    async def close(self) -> None:
        """Releases the child, if any."""
        if self._lease is not None:
            await self._lease.close()
            self._lease = None

    async def _forget_lost(self) -> None:
        if self._lease is None:
            return
        _log.info("%s (process %d) ended", self._kind.name, self._lease.pid)
        if asyncio.get_running_loop().time() - self._leased_at < _EARLY_SECONDS:
            self._count_failure(f"{self._kind.name} ended unexpectedly (log: {self._log_file}).")
        else:
            self._failures = 0
        await self.close()

    async def _find_or_start(self, on_start: Callable[[], None]) -> Lease:
        if self._kind.identity is None:
            on_start()
            return await self._start()
        state = self._folder / f"{self._kind.name}-{self._kind.identity}.json"
        if (found := obstacle(self._folder)) is not None:
            _log.warning("%s: %s is not shared between processes", found, self._kind.name)
            return await self._start_own(state, on_start)
        private_folder(self._folder)
        if (lease := await _find(state)) is not None:
            return lease
        on_start()
        async with hold_async(state.with_suffix(".lock")):
            return await _find(state) or await self._start(state)

    async def _start_own(self, state: Path, on_start: Callable[[], None]) -> Lease:
        """A lease on the previously shared child, or else on a private one."""
        with suppress(OSError, PolicyError):
            private_folder(self._folder)  # an existing folder need not be writable here
            if (lease := await _find(state)) is not None:
                return lease
        on_start()
        return await self._start()

    async def _start(self, state: Path | None = None) -> Lease:
        """Starts a child and records its handshake in `state`. If cancelled at any point, no child is left."""
        pause = self._not_before - asyncio.get_running_loop().time()
        if pause > 0:
            raise WorkerError(f"{self._last_error} Retrying in {pause:.0f} s.")
        kind = self._kind
        try:
            child = await spawn(kind.name, kind.module, kind.arguments, log=self._log_file, deadline=kind.deadline)
        except WorkerError as error:
            self._count_failure(str(error))
            raise
        lease = None
        try:
            lease = await connect(child.handshake)
            if lease is None:
                self._count_failure(f"{kind.name} started but did not respond (log: {self._log_file}).")
                raise WorkerError(self._last_error)
            if state is not None:
                _publish(state, child.handshake)
        except BaseException:
            child.kill()
            if lease is not None:
                await lease.close()
            raise
        _log.info("%s started (process %d)", kind.name, lease.pid)
        return lease

    def _count_failure(self, error: str) -> None:
        self._failures += 1
        self._last_error = error
        self._not_before = asyncio.get_running_loop().time() + _BACKOFF[min(self._failures, len(_BACKOFF) - 1)]


def _publish(state: Path, handshake: Handshake) -> None:
    try:
        write_private(state, handshake.to_json())
    except OSError as error:
        _log.warning("no other process finds process %d: `%s` cannot be written (%s)", handshake.pid, state, error)


async def _find(state: Path) -> Lease | None:
    """A lease on the child of a state file. The file of a dead child does not count: the child must know the key."""
    text = read_private(state)
    handshake = None if text is None else Handshake.parse(text)
    return None if handshake is None else await connect(handshake)

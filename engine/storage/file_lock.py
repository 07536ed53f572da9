"""A file lock between processes. The kernel releases it when the holder ends."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


# Neither system can wait for such a lock with a deadline or without blocking a thread, so this polls.
_RETRY_SECONDS = 0.05


class FileLock:
    """One attempt at a time to hold `path`. The file remains: removing it would let two processes hold two files."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None

    def acquire(self) -> bool:
        """True if it is held from now on, False if another process holds it. Never waits."""
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        if not _try_lock(descriptor):
            os.close(descriptor)
            return False
        self._descriptor = descriptor
        return True

    def release(self) -> None:
        """Releases the lock by closing the file."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


@contextmanager
def hold(path: Path) -> Iterator[None]:
    """Holds the lock, waiting as long as it takes."""
    lock = FileLock(path)
    while not lock.acquire():
        time.sleep(_RETRY_SECONDS)
    try:
        yield
    finally:
        lock.release()


@asynccontextmanager
async def hold_async(path: Path) -> AsyncIterator[None]:
    """Holds the lock without blocking the event loop while it waits."""
    lock = FileLock(path)
    while not lock.acquire():  # noqa: ASYNC110  # no event reports another process's release
        await asyncio.sleep(_RETRY_SECONDS)
    try:
        yield
    finally:
        lock.release()

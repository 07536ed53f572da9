"""Locks on environments: users share a lock; building or removing needs it exclusively.

The kernel releases a lock when its holder ends, however it ends, so a dead process never blocks one.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path

_RETRY_SECONDS = 0.05


def lock_of(folder: Path) -> Path:
    """The lock file next to a folder. It remains when the folder is removed: two files would be two locks."""
    return folder.with_name(f"{folder.name}.lock")


@asynccontextmanager
async def locked(path: Path, kind: int) -> AsyncIterator[None]:
    """Holds `path` as LOCK_SH or LOCK_EX; waits without a limit and without blocking the event loop."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        while not _try(descriptor, kind):  # noqa: ASYNC110  # no event reports another process's release
            await asyncio.sleep(_RETRY_SECONDS)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def locked_if_free(path: Path, flags: int = os.O_RDWR | os.O_CREAT) -> Iterator[bool]:
    """True if the lock is held exclusively; False at once if it is in use."""
    descriptor = os.open(path, flags | os.O_CLOEXEC, 0o600)
    try:
        yield _try(descriptor, fcntl.LOCK_EX)
    finally:
        os.close(descriptor)


@contextmanager
def in_use(folders: tuple[Path, ...]) -> Iterator[None]:
    """Marks those of the folders that are Stet's environments as in use; the others have no lock and need none."""
    with ExitStack() as stack:
        for folder in folders:
            try:
                descriptor = os.open(lock_of(folder), os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
            except OSError:
                continue
            stack.callback(os.close, descriptor)
            _try(descriptor, fcntl.LOCK_SH)
        yield


def _try(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True

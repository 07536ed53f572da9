"""The hard end of every job: even if a stage hangs, the caller gets an answer.

Stages keep to the job's time by themselves. This is for one that does not: a file system that does not respond, a tool
that runs past its own deadline.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

TICK = 0.25
"""Seconds between two checks: time in which a job waits for a person or for its turn does not count."""


class OvertimeError(Exception):
    """The time is over."""


@asynccontextmanager
async def ended_after(limit: Callable[[], float], *, waits: Callable[[], bool]) -> AsyncIterator[None]:
    """Raises OvertimeError after `limit()` seconds of work, without those in which it `waits()`; threads continue."""
    scope = asyncio.timeout(None)
    look = asyncio.create_task(_look(scope, limit, waits), name="end of a job")
    try:
        async with scope:
            yield
    except TimeoutError:
        if scope.expired():
            raise OvertimeError from None
        raise
    finally:
        look.cancel()


async def _look(scope: asyncio.Timeout, limit: Callable[[], float], waits: Callable[[], bool]) -> None:
    loop = asyncio.get_running_loop()
    worked, last = 0.0, loop.time()
    while worked < limit():
        await asyncio.sleep(TICK)
        now = loop.time()
        # While the machine slept or the loop was blocked, the job did not work either.
        worked += 0.0 if waits() else min(now - last, 2 * TICK)
        last = now
    scope.reschedule(loop.time())

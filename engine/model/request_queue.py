"""Calls that wait for an endpoint, first come, first served; each learns how many are ahead of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from stet_ls.engine.api.events import OnEvent, Stage

QUEUED = "queued"
"""The stage of a waiting call; its detail says how many are ahead."""


class RequestQueue:
    """Limits concurrent calls. A cancelled waiter leaves the queue."""

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once
        self._working = 0
        self._waiting: list[asyncio.Event] = []

    @property
    def length(self) -> tuple[int, int]:
        """The numbers of active and of waiting calls."""
        return self._working, len(self._waiting)

    @asynccontextmanager
    async def turn(self, on_event: OnEvent) -> AsyncIterator[None]:
        """Waits for a free place, first come, first served. Reports the position of those who wait."""
        waited = await self._enter(on_event)
        try:
            if waited:
                on_event(Stage("model"))
            yield
        finally:
            self._working -= 1
            self._wake()

    async def _enter(self, on_event: OnEvent) -> bool:
        """True if it had to wait."""
        place = asyncio.Event()
        self._waiting.append(place)
        reported = 0
        try:
            while self._waiting[0] is not place or self._working >= self._at_once:
                ahead = self._waiting.index(place) + self._working
                if ahead != reported:
                    on_event(Stage(QUEUED, f"{ahead} ahead"))
                    reported = ahead
                place.clear()
                await place.wait()
            self._working += 1
        finally:
            self._waiting.remove(place)
            self._wake()
        return reported > 0

    def _wake(self) -> None:
        """Wakes all waiters: the first may go, the others report their new position."""
        for place in self._waiting:
            place.set()


class RequestQueues:
    """A queue for each endpoint. Work that needs no model waits in none."""

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once
        self._lines: dict[str, RequestQueue] = {}

    def at(self, endpoint: str, *, at_once: int | None = None) -> RequestQueue:
        """The queue of an endpoint; `at_once` is for one with another limit than the others."""
        if endpoint not in self._lines:
            self._lines[endpoint] = RequestQueue(at_once or self._at_once)
        return self._lines[endpoint]

    @property
    def length(self) -> tuple[int, int]:
        """The numbers of active and of waiting calls at all endpoints."""
        lengths = [line.length for line in self._lines.values()]
        return sum(working for working, _ in lengths), sum(waiting for _, waiting in lengths)

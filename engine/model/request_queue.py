"""Calls that wait for an endpoint, by priority, then first come, first served; each learns how many are ahead of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from stet_ls.engine.api.events import OnEvent, Stage

QUEUED = "queued"
"""The stage of a waiting call; its detail says how many are ahead."""


@dataclass(eq=False)
class _Place:
    """One waiting call."""

    priority: int
    called: asyncio.Event = field(default_factory=asyncio.Event)


class RequestQueue:
    """Limits concurrent calls. A cancelled waiter leaves the queue."""

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once
        self._working = 0
        self._waiting: list[_Place] = []

    @property
    def length(self) -> tuple[int, int]:
        """The numbers of active and of waiting calls."""
        return self._working, len(self._waiting)

    @asynccontextmanager
    async def turn(self, on_event: OnEvent, priority: int = 0) -> AsyncIterator[None]:
        """Waits for a free place: before all of a lower priority. Reports the position of those who wait."""
        waited = await self._enter(on_event, priority)
        try:
            if waited:
                on_event(Stage("model"))
            yield
        finally:
            self._working -= 1
            self._wake()

    async def _enter(self, on_event: OnEvent, priority: int) -> bool:
        """True if it had to wait."""
        place = _Place(priority)
        later = (at for at, other in enumerate(self._waiting) if other.priority < priority)
        self._waiting.insert(next(later, len(self._waiting)), place)
        self._wake()
        reported = 0
        try:
            while self._waiting[0] is not place or self._working >= self._at_once:
                ahead = self._waiting.index(place) + self._working
                if ahead != reported:
                    on_event(Stage(QUEUED, f"{ahead} ahead"))
                    reported = ahead
                place.called.clear()
                await place.called.wait()
            self._working += 1
        finally:
            self._waiting.remove(place)
            self._wake()
        return reported > 0

    def _wake(self) -> None:
        """Wakes all waiters: the first may go, the others report their new position."""
        for place in self._waiting:
            place.called.set()


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

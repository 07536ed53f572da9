"""Jobs that wait for their turn: the first come goes first, and each is told how many are before it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from stet_ls.engine.events import OnEvent, Stage


class Line:
    """At most so many jobs at a time. Whoever is cancelled while waiting leaves the line."""

    def __init__(self) -> None:
        self._working = 0
        self._waiting: list[asyncio.Event] = []

    @property
    def length(self) -> tuple[int, int]:
        """How many jobs work, and how many wait."""
        return self._working, len(self._waiting)

    @asynccontextmanager
    async def turn(self, at_once: int, on_event: OnEvent) -> AsyncIterator[None]:
        """Waits until fewer than `at_once` jobs work and all that came before have had their turn."""
        await self._enter(at_once, on_event)
        try:
            yield
        finally:
            self._working -= 1
            self._wake()

    async def _enter(self, at_once: int, on_event: OnEvent) -> None:
        place = asyncio.Event()
        self._waiting.append(place)
        try:
            while self._waiting[0] is not place or self._working >= at_once:
                on_event(Stage("queued", f"{self._waiting.index(place) + self._working} before it"))
                place.clear()
                await place.wait()
            self._working += 1
        finally:
            self._waiting.remove(place)
            self._wake()

    def _wake(self) -> None:
        """Everybody looks up: the first may go, the others learn that they moved on."""
        for place in self._waiting:
            place.set()

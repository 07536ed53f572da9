"""Finds the function or class at a line: indexed in the background, so that code actions never parse."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stet_ls.server.documents.open_documents import Snapshot


LOGGER = logging.getLogger(__name__)

SETTLE_SECONDS = 0.15
"""Pause in typing before a new index is made."""


@dataclass(frozen=True, slots=True)
class UnitLine:
    """A unit by its lines, both included, counted from 0; the comment above it belongs to it."""

    first: int
    last: int
    name: str


@dataclass(frozen=True, slots=True)
class _Indexed:
    version: int | None
    entries: tuple[UnitLine, ...]


class UnitIndex:
    """The units of all open documents, by version."""

    def __init__(self, read: Callable[[str], Awaitable[None]] | None = None) -> None:
        """`read` returns once a document was parsed elsewhere, if it is: then its tree can be reused."""
        self._read = read
        self._indexed: dict[str, _Indexed] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def refresh(self, snapshot: Snapshot, *, settle: float = SETTLE_SECONDS) -> None:
        """Indexes that version in the background; a newer call for the same document replaces it."""
        self._cancel(snapshot.uri)
        task = asyncio.create_task(self._index(snapshot, settle), name=f"units of {snapshot.uri}")
        self._tasks[snapshot.uri] = task
        task.add_done_callback(lambda task: self._done(snapshot.uri, task))

    def forget(self, uri: str) -> None:
        """Drops the index of a document."""
        self._cancel(uri)
        self._indexed.pop(uri, None)

    async def settled(self, uri: str) -> None:
        """Returns once no index of that document is being made."""
        while (task := self._tasks.get(uri)) is not None:
            await asyncio.wait({task})

    def is_ready(self, uri: str, version: int | None) -> bool:
        """Whether exactly that version is indexed."""
        indexed = self._indexed.get(uri)
        return indexed is not None and indexed.version == version

    def unit_at(self, uri: str, version: int | None, first: int, last: int) -> str | None:
        """The qualified name of the smallest unit with those lines; None if there is none or it is not known yet."""
        found = self.lines_at(uri, version, first, last)
        return None if found is None else found.name

    def lines_at(self, uri: str, version: int | None, first: int, last: int) -> UnitLine | None:
        """The smallest unit with those lines; None as above."""
        if not self.is_ready(uri, version):
            return None
        holders = [each for each in self._indexed[uri].entries if each.first <= first and last <= each.last]
        return min(holders, key=lambda each: each.last - each.first, default=None)

    def _cancel(self, uri: str) -> None:
        if (task := self._tasks.pop(uri, None)) is not None:
            task.cancel()

    def _done(self, uri: str, task: asyncio.Task[None]) -> None:
        if self._tasks.get(uri) is task:
            del self._tasks[uri]
        if not task.cancelled() and (error := task.exception()) is not None:
            LOGGER.error("cannot list units of %s: %s", uri, error, exc_info=error)

    async def _index(self, snapshot: Snapshot, settle: float) -> None:
        await asyncio.sleep(settle)
        if self._read is not None:
            await self._read(snapshot.uri)
        entries = await asyncio.to_thread(_entries, snapshot)
        self._indexed[snapshot.uri] = _Indexed(snapshot.version, entries)


def _entries(snapshot: Snapshot) -> tuple[UnitLine, ...]:
    # Both import the parsers: not before the handshake.
    from stet_ls.engine.prompt.stet_comments import comment_above
    from stet_ls.validators.structure import units

    source, language = snapshot.source, snapshot.language
    return tuple(
        UnitLine(
            comment_above(source, language, source.line_of(unit.span.start)),
            source.line_of(unit.span.end),
            unit.qualified,
        )
        for unit in units(source, language)
    )

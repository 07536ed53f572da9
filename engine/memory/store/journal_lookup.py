"""Solutions by id, read from the journal: a query of the table takes as long as embedding the search words.

One pass over the file records where each solution's line begins; a line's checksum shows whether it is complete.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import BinaryIO

from stet_ls.engine.memory.solution import Solution
from stet_ls.engine.memory.store.journal import Journal, Stamp, event_of, replayed, stamp_of

_LINE = re.compile(
    rb'\{"crc":"\w{8}","e":\{"v":\d+,"op":"(?:(put)","solution":\{"id":"|(count)","id":"|forget","id":")([0-9a-f]{32})"'
)


class JournalLookup:
    """The positions of the journal's lines. Belongs to one event loop; each lookup first reads what was appended."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._stamp: Stamp = (0, 0)
        self._puts: dict[str, int] = {}
        self._counts: dict[str, int] = {}
        self._reading = asyncio.Lock()

    async def solutions(self, ids: Sequence[str]) -> dict[str, Solution]:
        """The solutions that the journal holds for certain, by id; the table may have more."""
        async with self._reading:
            if self._journal.stamp != self._stamp:
                await asyncio.to_thread(self._follow)
            return self._read(ids)

    def _read(self, ids: Sequence[str]) -> dict[str, Solution]:
        found: dict[str, Solution] = {}
        try:
            with self._journal.path.open("rb") as file:
                if stamp_of(file)[0] != self._stamp[0]:
                    return {}
                for ident in ids:
                    _read_lines(
                        file, [places[ident] for places in (self._puts, self._counts) if ident in places], found
                    )
        except OSError:
            return {}
        return {ident: found[ident] for ident in ids if ident in found}

    def _follow(self) -> None:
        try:
            with self._journal.path.open("rb") as file:
                generation, size = stamp_of(file)
                if generation != self._stamp[0] or size < self._stamp[1]:
                    self._stamp = (0, 0)
                    self._puts.clear()
                    self._counts.clear()
                self._stamp = (generation, self._pass_over(file, size))
        except OSError:
            self._stamp = (0, 0)

    def _pass_over(self, file: BinaryIO, size: int) -> int:
        """The end of the last complete line. A line still being written is read the next time."""
        place = self._stamp[1]
        file.seek(place)
        while place < size and (line := file.readline()).endswith(b"\n"):
            if (known := _LINE.match(line)) is not None:
                put, count, ident = known[1], known[2], known[3].decode()
                if put:
                    self._puts[ident] = place
                elif count:
                    self._counts[ident] = place
                else:
                    self._puts.pop(ident, None)
                if not count:  # a line holds the whole state
                    self._counts.pop(ident, None)
            place += len(line)
        return place


def _read_lines(file: BinaryIO, places: Sequence[int], found: dict[str, Solution]) -> None:
    """Applies the lines at some positions, if all of them are complete."""
    events = []
    for place in places:
        file.seek(place)
        events.append(event_of(file.readline().rstrip(b"\n")))
    if None not in events:
        found |= replayed(event for event in events if event is not None)

"""Maps ranges of a snapshot to the current text.

A job works on a snapshot for seconds or minutes while the user continues to type. A track follows every change, so
that the job's edit can be moved to the current place of its target, or be refused because the target was changed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from stet_ls.server.documents.line_diff import minimal
from stet_ls.validators.source import Source, Span, Splice

MOST_PIECES = 1024
"""With more scattered edits than this, the smallest untouched pieces count as touched: this bounds the memory."""


class _Piece(NamedTuple):
    """An untouched part of the first text: its old and new offset and its length, in bytes."""

    was: int
    now: int
    length: int


class Anchors:
    """The bytes of a first text that are still there after any number of splices, and where.

    Stores the pieces that no splice touched. Between two pieces is a hole, with old and new bytes. A hole whose new
    bytes equal its old ones is closed if its neighbors did not move relative to each other: it is the old text in its
    old place. So a change that the user reverts, by undo, by typing or by a reload, leaves no trace; the same text in
    another place is never taken for it.
    """

    def __init__(self, first: bytes) -> None:
        self._first = first
        self._now = first
        self._pieces: Sequence[_Piece] = [_Piece(0, 0, len(first))] if first else []

    def __len__(self) -> int:
        """The number of pieces that are kept."""
        return len(self._pieces)

    def follow(self, splices: Sequence[Splice], now: bytes) -> None:
        """Advances from the previous text to `now` by splices of the previous text, in order and without overlap."""
        self._pieces = list(_carried(self._pieces, _kept(splices, len(self._now))))
        self._now = now
        self._pieces = _bounded(self._closed())

    def place(self, span: Span) -> Span | None:
        """The current place of a span of the first text; None if any of it was touched.

        An insertion exactly at an end of a non-empty span leaves it untouched. An empty span counts as touched as soon
        as something was inserted or deleted exactly there.
        """
        for piece in self._pieces:
            end = piece.was + piece.length
            if not (piece.was <= span.start and span.end <= end):
                continue
            if span.empty and not self._is_inside(span.start, piece):
                return None
            shift = piece.now - piece.was
            return Span(span.start + shift, span.end + shift)
        return span if span.empty and not self._first and not self._now else None

    def _is_inside(self, position: int, piece: _Piece) -> bool:
        """Whether the text on both sides of a position is the old one; the ends of the text count as sides."""
        after_start = piece.was < position or piece.was == piece.now == 0
        ends = (piece.was + piece.length, piece.now + piece.length)
        before_end = position < ends[0] or ends == (len(self._first), len(self._now))
        return after_start and before_end

    def _closed(self) -> list[_Piece]:
        """The pieces, merged over every hole whose content is the original one."""
        end = _Piece(len(self._first), len(self._now), 0)
        pieces: list[_Piece] = []
        last = _Piece(0, 0, 0)
        for piece in [*self._pieces, end]:
            was, now = last.was + last.length, last.now + last.length
            alike = piece.was - was == piece.now - now
            if alike and self._first[was : piece.was] == self._now[now : piece.now]:
                last = _Piece(last.was, last.now, piece.was + piece.length - last.was)
            else:
                if last.length:
                    pieces.append(last)
                last = piece
        return [*pieces, last] if last.length else pieces


def _kept(splices: Sequence[Splice], length: int) -> Iterator[tuple[int, int, int]]:
    """The ranges of a text that splices do not touch: from, to, and the shift of each."""
    start = shift = 0
    for splice in splices:
        yield start, splice.span.start, shift
        start = splice.span.end
        shift += len(splice.text.encode("utf-8", "surrogatepass")) - (splice.span.end - splice.span.start)
    yield start, length, shift


def _carried(pieces: Sequence[_Piece], kept: Iterable[tuple[int, int, int]]) -> Iterator[_Piece]:
    """The parts of the pieces in the untouched ranges. Both are in order, so one pass is enough."""
    index = 0
    for start, end, shift in kept:
        while index < len(pieces):
            piece = pieces[index]
            piece_end = piece.now + piece.length
            low, high = max(piece.now, start), min(piece_end, end)
            if low < high:
                yield _Piece(piece.was + low - piece.now, low + shift, high - low)
            if piece_end > end:
                break
            index += 1


def _bounded(pieces: list[_Piece]) -> list[_Piece]:
    if len(pieces) <= MOST_PIECES:
        return pieces
    return sorted(sorted(pieces, key=lambda piece: -piece.length)[: MOST_PIECES // 2])


class PositionTracker:
    """Follows one document from a snapshot on. Made by `Documents.track`; call `release` when the job is done."""

    def __init__(self, first: Source, version: int | None, read: Callable[[], Source | None]) -> None:
        """`read` reads the text from the disk; used while the client does not have the document open (version None)."""
        self._first = first
        self._live = first
        self._read = read
        self._anchors = Anchors(first.data)
        self._waiters: set[asyncio.Future[None]] = set()
        self.version = version
        """The document's current version; None while the client does not have it open."""
        self.closed = False
        """True after the client closed the document; False again once it reopens it, as editors do to reload."""
        self.released = False
        """True after `release`: changes are not followed any more."""

    def live(self) -> Source | None:
        """The current text; None if the document was closed, or was never opened and its file is gone."""
        if self.closed:
            return None
        if self.version is None:
            if (text := self._read()) is None:
                return None
            self._move(text)
        return self._live

    def rebase(self, span: Span) -> Span | None:
        """The place of a snapshot's span in `live()`; None if it was touched or the text is unknown.

        The text there equals the snapshot's, byte for byte. A reverted change does not count, see Anchors. A span that
        started or ended at a line's boundary must still do so: an insertion right at the end of a function is not part
        of it, but one that continues its last line changes it.
        """
        live = self.live()
        if live is None or self.released:
            return None
        place = self._anchors.place(span)
        if place is None or live.data[place.start : place.end] != self._first.data[span.start : span.end]:
            return None
        glued = not span.empty and (
            (_starts_line(self._first, span.start) and not _starts_line(live, place.start))
            or (_ends_line(self._first, span.end) and not _ends_line(live, place.end))
        )
        return None if glued else place

    async def wait_change(self, version_after: int | None) -> None:
        """Returns once the document's version is not `version_after` or it is closed; at once if that is already so."""
        while self.version == version_after and not self.closed:
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiters.add(waiter)
            try:
                await waiter
            finally:
                self._waiters.discard(waiter)

    def release(self) -> None:
        """Stops following and frees the texts."""
        self.released = True

    # Only Documents calls the methods below.

    def changed(self, splice: Splice, live: Source, version: int) -> None:
        """The client applied `splice` to the text, which became `live`."""
        self._follow(_tightened(self._live, splice), live)
        self._now(version)

    def opened(self, live: Source, version: int) -> None:
        """The client opened the document, or replaced its whole text."""
        self._move(live)
        self.closed = False
        self._now(version)

    def close(self) -> None:
        """The client closed the document."""
        self.closed = True
        self._now(None)

    def _move(self, live: Source) -> None:
        if live is not self._live:
            self._follow(minimal(self._live, live), live)

    def _follow(self, splices: Sequence[Splice], live: Source) -> None:
        if splices:
            self._anchors.follow(splices, live.data)
        self._live = live

    def _now(self, version: int | None) -> None:
        self.version = version
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)


def _starts_line(source: Source, at: int) -> bool:
    return at == 0 or source.data[at - 1 : at] in (b"\n", b"\r")


def _ends_line(source: Source, at: int) -> bool:
    return source.data[at : at + 1] in (b"\n", b"\r", b"")


def _tightened(source: Source, splice: Splice) -> list[Splice]:
    """The parts of a change that differ: editors replace a word to complete it, and a whole file to format it."""
    inner = minimal(Source(source.slice(splice.span)), Source(splice.text))
    start = splice.span.start
    return [Splice(Span(start + part.span.start, start + part.span.end), part.text) for part in inner]

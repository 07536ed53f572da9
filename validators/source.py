"""A document's text with exact positions: the only converter between bytes, code points and UTF-16 units."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, islice, pairwise
from typing import AnyStr, Literal

Encoding = Literal["utf-8", "utf-16", "utf-32"]
"""Units in which a position's column counts: bytes, UTF-16 code units, or code points."""

_SLICE = 65_536  # bytes of which the lines are counted in one go
_ERRORS = "surrogatepass"  # JSON can carry half a surrogate pair; it has to survive a round trip


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A half-open range of byte offsets into the UTF-8 form of a text."""

    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.end:
            raise ValueError(f"not a span: {self.start}..{self.end}")

    @property
    def empty(self) -> bool:
        """True for a position."""
        return self.start == self.end

    def contains(self, other: Span) -> bool:
        """True if `other` is completely inside, the ends included."""
        return self.start <= other.start and other.end <= self.end

    def overlaps(self, other: Span) -> bool:
        """True if the two share a byte, or if a position is inside or at an end of the other."""
        if self.empty or other.empty:
            return self.start <= other.end and other.start <= self.end
        return self.start < other.end and other.start < self.end


@dataclass(frozen=True, slots=True)
class Splice:
    """Replaces `span` with `text`."""

    span: Span
    text: str


@dataclass(frozen=True)
class Source:
    """An immutable text. Offsets count bytes of its UTF-8 form, lines count from 0.

    Source of the line-end rule: LSP 3.17, section "Text Documents".
    """

    text: str

    @cached_property
    def data(self) -> bytes:
        """The text in UTF-8; half surrogates are kept as they are."""
        return self.text.encode("utf-8", _ERRORS)

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The offset at which each line starts. There is always a line 0.

        LSP: "\\n", "\\r\\n" and "\\r" end a line, nothing else does. That is how bytes split, and four times as fast
        as an expression; str.splitlines would also split at form feeds and U+2028.
        """
        return tuple(_starts(self.data, 0, len(self.data)))

    @property
    def line_count(self) -> int:
        """The number of lines; an empty text has one."""
        return len(self.starts)

    @property
    def whole(self) -> Span:
        """The span of the whole text."""
        return Span(0, len(self.data))

    @cached_property
    def line_end(self) -> str:
        """The document's own line end: the most frequent one, "\\n" if it has none."""
        data = self.data
        windows = data.count(b"\r\n")
        counts = {"\n": data.count(b"\n") - windows, "\r\n": windows, "\r": data.count(b"\r") - windows}
        return max(counts, key=lambda end: counts[end]) if any(counts.values()) else "\n"

    def line_span(self, line: int, *, with_end: bool = False) -> Span:
        """The span of a line, without its line end unless `with_end`; lines past the end give the empty end."""
        if line >= self.line_count:
            return Span(len(self.data), len(self.data))
        start = self.starts[line]
        end = self.starts[line + 1] if line + 1 < self.line_count else len(self.data)
        if not with_end:
            end = start + len(self.data[start:end].rstrip(b"\r\n"))
        return Span(start, end)

    def line_text(self, line: int) -> str:
        """The text of a line without its end."""
        return self.slice(self.line_span(line))

    def line_of(self, offset: int) -> int:
        """The line that holds a byte offset."""
        return bisect_right(self.starts, offset) - 1

    def slice(self, span: Span) -> str:
        """The text of a span. A character that an end of the span cuts is dropped."""
        return self.data[span.start : span.end].decode("utf-8", _ERRORS if self._whole(span) else "ignore")

    def _whole(self, span: Span) -> bool:
        return all(at >= len(self.data) or self.data[at] & 0xC0 != 0x80 for at in (span.start, span.end))

    def offset(self, line: int, column: int, encoding: Encoding = "utf-8") -> int:
        """The byte offset of a position, clamped: past a line's end is its end, past the last line the text's end."""
        if line < 0:
            return 0
        span = self.line_span(line)
        column = max(column, 0)
        if encoding == "utf-8":
            at = min(span.start + column, span.end)
            while at > span.start and at < len(self.data) and self.data[at] & 0xC0 == 0x80:
                at -= 1
            return at
        text = self.slice(span)
        if encoding == "utf-32" or text.isascii():
            return span.start + len(text[:column].encode("utf-8", _ERRORS))
        units = 0
        for index, character in enumerate(text):
            width = 2 if character > "\uffff" else 1
            if units + width > column:
                return span.start + len(text[:index].encode("utf-8", _ERRORS))
            units += width
        return span.end

    def position(self, offset: int, encoding: Encoding = "utf-8") -> tuple[int, int]:
        """The (line, column) of a byte offset, both from 0, the column in the units of `encoding`."""
        offset = min(max(offset, 0), len(self.data))
        line = self.line_of(offset)
        start = self.starts[line]
        if encoding == "utf-8":
            return line, offset - start
        text = self.data[start:offset].decode(
            "utf-8", "surrogatepass" if self._whole(Span(start, offset)) else "ignore"
        )
        if encoding == "utf-32":
            return line, len(text)
        return line, len(text) + sum(character > "\uffff" for character in text)

    def splice(self, splices: Iterable[Splice]) -> Source:
        """The text after all `splices`, whose spans are of this text and must not overlap (ValueError)."""
        ordered = sorted(splices, key=lambda splice: splice.span)
        for first, second in pairwise(ordered):
            if first.span.end > second.span.start:
                raise ValueError(f"splices overlap: {first.span} and {second.span}")
        pieces: list[bytes] = []
        at = 0
        for splice in ordered:
            pieces += [self.data[at : splice.span.start], splice.text.encode("utf-8", _ERRORS)]
            at = splice.span.end
        data = b"".join([*pieces, self.data[at:]])
        new = Source(data.decode("utf-8", _ERRORS))
        vars(new)["data"] = data
        if ordered and "starts" in vars(self):
            vars(new)["starts"] = self._moved(ordered[0].span.start, at, data)
        return new

    def _moved(self, start: int, end: int, data: bytes) -> tuple[int, ...]:
        """The starts of `data`, which differs from this text only between two of its offsets.

        A tenth of the time of a full scan, at each keystroke. The character after a "\\r" decides whether a line starts
        there, so the line before the change is scanned again.
        """
        first = self.line_of(max(start - 1, 0))
        last = bisect_right(self.starts, end)
        shift = len(data) - len(self.data)
        changed = self.starts[first], (self.starts[last] + shift if last < self.line_count else len(data))
        rest = tuple(offset + shift for offset in self.starts[last:]) if shift else self.starts[last:]
        between = [offset for offset in _starts(data, *changed) if not rest or offset < rest[0]]
        return (*self.starts[:first], *between, *rest)


def _starts(data: bytes, start: int, end: int) -> list[int]:
    """`start`, and the line starts after it up to `end`. In slices, so that other threads can run."""
    starts = [start]
    while start < end:
        stop = min(start + _SLICE, end)
        if data[stop - 1 : stop + 1] == b"\r\n":
            stop += 1
        lines = data[start:stop].splitlines(keepends=True)
        starts += islice(accumulate(map(len, lines), initial=start), 1, None)
        if not lines[-1].endswith((b"\n", b"\r")):
            starts.pop()
        start = stop
    return starts


def occurrences(text: AnyStr, needle: AnyStr) -> Iterator[int]:
    """The positions of `needle`. A regular expression over a large text would block the interpreter for long."""
    at = text.find(needle)
    while at >= 0:
        yield at
        at = text.find(needle, at + len(needle))

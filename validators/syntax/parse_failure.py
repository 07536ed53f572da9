"""Where a parse failed, and what was expected there, from the parser's own log.

An ERROR node shows where the parser recovered; the token at which it failed is within two lines of the real fault in 95
% of cases, as near as a compiler's message. The log costs a call for each line (ten times the parse), so it is read
only from a little before the first error node to the first real failure.
"""

from __future__ import annotations

import re
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stet_ls.validators.parsing import grammars
from stet_ls.validators.parsing.tree import Parsed
from stet_ls.validators.source import Span

if TYPE_CHECKING:
    import tree_sitter

END_OF_FILE = "end of file"
END_OF_LINE = "end of line"
"""Tokens without a text, as messages call them."""

_MOST_BYTES = 200_000
_SECONDS = 0.3
_AHEAD = (500, 10_000)  # bytes before the first error node; the parser calls the logger every hundred or so, as a rule
_CHUNK = 4096
_PROCESS = re.compile(r"process version:\d+, version_count:\d+, state:(\d+), row:(\d+), col:(\d+)")
_LOOKAHEAD = re.compile(r"lexed_lookahead sym:(.*), size:(\d+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ParseFailure:
    """The token that fits nothing (END_OF_FILE at the end of the text), and the names of those that would have."""

    span: Span
    token: str
    expected: frozenset[str]


class _Log:
    """Follows the parser until every version of the parse that it tries in parallel has failed."""

    def __init__(self, parsed: Parsed) -> None:
        import tree_sitter

        self._data = parsed.data
        self._lines = [0, *(match.end() for match in re.finditer(b"\n", parsed.data))]
        self._at = ""
        self._lookahead = ""
        self._failed: tuple[int, int, int] | None = None
        self._lexing = tree_sitter.LogType.LEX
        self.over = False

    def __call__(self, kind: object, line: str) -> None:
        # Called for every step of the parser: a line is parsed only if the next one is a failure.
        if self.over or kind is self._lexing:
            return
        if line.startswith("process"):
            self._at = line
        elif line.startswith("lexed_lookahead"):
            self._lookahead = line
        elif line.startswith("detect_error"):
            place = self._place()
            if place is not None and (self._failed is None or place[1] >= self._failed[1]):
                self._failed = place
        elif line.startswith(("resume", "recover")):
            self.over = self._failed is not None

    def _place(self) -> tuple[int, int, int] | None:
        at, lookahead = _PROCESS.match(self._at), _LOOKAHEAD.match(self._lookahead)
        if at is None:
            return None
        state, row, column = map(int, at.groups())
        size = int(lookahead[2]) if lookahead else 0
        return state, self._lines[min(row, len(self._lines) - 1)] + column, size

    @property
    def failed(self) -> tuple[int, int, int] | None:
        """State, offset and size (with the white space before it) of the token that failed last."""
        return self._failed if self.over else None


def first_failure(parsed: Parsed, *, end: float) -> ParseFailure | None:
    """The first failure of a broken text; None if the text is too large or the time (of time.monotonic()) too short."""
    if len(parsed.data) > _MOST_BYTES:
        return None
    end = min(end, time.monotonic() + _SECONDS)
    first = _first_error(parsed.root)
    for ahead in _AHEAD:
        log = _logged(parsed, first - ahead, end)
        if log.failed:
            return _failure(parsed, log.failed)
        if ahead >= first or time.monotonic() > end:
            break
    return None


def _logged(parsed: Parsed, begin: int, end: float) -> _Log:
    """The parser's log from an offset on, up to its first failure."""
    log = _Log(parsed)
    parser = grammars.parser(parsed.language)
    if begin <= 0:
        parser.logger = log

    def step(offset: int, _has_error: bool) -> bool:
        if offset >= begin and parser.logger is None:
            parser.logger = log
        return log.over or time.monotonic() > end

    with suppress(ValueError):  # raised when `step` has seen enough
        parser.parse(lambda at, _point: parsed.data[at : at + _CHUNK], encoding="utf8", progress_callback=step)
    del parser.logger
    parser.reset()
    return log


def _first_error(root: tree_sitter.Node) -> int:
    """The offset of the first outermost error node; of the whole tree if something hidden is missing."""
    node = root
    while not (node.is_error or node.is_missing):
        deeper = next((child for child in node.children if child.has_error or child.is_missing), None)
        if deeper is None:
            break
        node = deeper
    return int(node.start_byte)


def _failure(parsed: Parsed, failed: tuple[int, int, int]) -> ParseFailure:
    state, offset, size = failed
    lookahead = grammars.grammar(parsed.language).lookahead_iterator(state)
    expected = frozenset(lookahead.names()) if lookahead else frozenset()
    text = parsed.data[offset : offset + size]
    start = offset + len(text) - len(text.lstrip())
    token = text.strip().decode("utf-8", "replace")
    if not token:
        start = min(start, len(parsed.source.data))
        rest = parsed.data[start:].strip()
        return ParseFailure(Span(start, start), END_OF_LINE if rest else END_OF_FILE, expected)
    return ParseFailure(Span(start, start + len(text.strip())), token, expected)

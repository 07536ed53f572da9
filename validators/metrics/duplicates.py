"""Repeated code: within one text, and shared with others. Layout and comments do not count, names do."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from stet_ls.validators.metrics.code_tokens import CodeTokens, tokens
from stet_ls.validators.source import Source, Span

LEAST_WORDS, LEAST_LINES = 50, 5
"""The minimum size of a copy: the defaults of jscpd."""
_LEAST_DIFFERENT = 12
"""Minimum number of different tokens in a copy: a table of numbers repeats itself but is not copied code."""
_MOST = 50
_BASE, _MODULUS = 1_000_003, (1 << 61) - 1


@dataclass(frozen=True, slots=True)
class DuplicateCode:
    """Code of this text (`span`) that also occurs in `path` (None: in this text), from `line` on (from 0)."""

    span: Span
    words: int
    path: Path | None
    line: int


def repeated_code(source: Source, language: str, *, without: Iterable[Span] = ()) -> tuple[DuplicateCode, ...]:
    """The copies within one text; each later one points to the first. `without`: excluded spans."""
    text = tokens(source.data, language)
    skipped = _covered(text, without)
    first: dict[int, int] = {}
    copies: list[DuplicateCode] = []
    free = 0  # tokens before it belong to the previous copy
    for at, key in enumerate(_keys(text.words)):
        if at < free or at in skipped:
            continue
        earlier = first.setdefault(key, at)
        if earlier + LEAST_WORDS > at:
            continue
        size = _alike(text.words, earlier, text.words, at, most=at - earlier)
        # Also skips a match that is not reported: trying each position of it takes quadratic time.
        free = at + size
        if _is_significant(text, at, size, source.data):
            span = Span(text.starts[at], text.ends[at + size - 1])
            copies.append(DuplicateCode(span, size, None, source.line_of(text.starts[earlier])))
            if len(copies) == _MOST:
                break
    return tuple(copies)


def shared_code(
    source: Source,
    language: str,
    others: Iterable[tuple[Path, bytes]],
    *,
    without: Iterable[Span] = (),
    deadline: float = 1.5,
) -> tuple[DuplicateCode, ...]:
    """What this text has in common with others; the longest piece at each position. Stops at the deadline (seconds)."""
    end = time.monotonic() + deadline
    text = tokens(source.data, language)
    skipped = _covered(text, without)
    known: dict[int, int] = {}
    for at, key in enumerate(_keys(text.words)):
        if at not in skipped:
            known.setdefault(key, at)
    copies: list[DuplicateCode] = []
    for path, data in others:
        if time.monotonic() > end or len(copies) >= _MOST:
            break
        other = tokens(data, language)
        free = 0
        for at, key in enumerate(_keys(other.words)):
            if at < free or (here := known.get(key)) is None:
                continue
            size = _alike(text.words, here, other.words, at, most=len(other.words))
            if _is_significant(text, here, size, source.data):
                span = Span(text.starts[here], text.ends[here + size - 1])
                copies.append(DuplicateCode(span, size, path, data.count(b"\n", 0, other.starts[at])))
            free = at + max(size, 1)
    return tuple(sorted(copies, key=lambda copy: -copy.words))


def _keys(words: Sequence[str]) -> Iterator[int]:
    """The rolling hash of each run of `LEAST_WORDS` tokens (Rabin and Karp), by its start."""
    numbers = [hash(word) % _MODULUS for word in words]
    leaving = pow(_BASE, LEAST_WORDS - 1, _MODULUS)
    key = 0
    for index, number in enumerate(numbers):
        if index >= LEAST_WORDS:
            key -= numbers[index - LEAST_WORDS] * leaving
        key = (key * _BASE + number) % _MODULUS
        if index >= LEAST_WORDS - 1:
            yield key


def _alike(words: Sequence[str], at: int, others: Sequence[str], there: int, *, most: int) -> int:
    """The number of equal tokens from two positions on."""
    limit = min(most, len(words) - at, len(others) - there)
    size = 0
    while size < limit and words[at + size] == others[there + size]:
        size += 1
    return size


def _is_significant(text: CodeTokens, at: int, size: int, data: bytes) -> bool:
    if size < LEAST_WORDS or data.count(b"\n", text.starts[at], text.ends[at + size - 1]) + 1 < LEAST_LINES:
        return False
    return len(set(text.words[at : at + size])) >= _LEAST_DIFFERENT


def _covered(text: CodeTokens, spans: Iterable[Span]) -> set[int]:
    """The positions from which a run of tokens would start inside one of the spans."""
    covered: set[int] = set()
    for span in spans:
        covered.update(range(bisect_left(text.starts, span.start), bisect_left(text.starts, span.end)))
    return covered

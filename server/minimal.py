"""The smallest edits, in whole lines, that turn one text into another.

Whole lines keep every position at a line's start, so that no edit can split a surrogate pair, a combining sequence
or a CRLF in any encoding; and the editor keeps its marks, folds and cursor in all lines that stay.
"""

from __future__ import annotations

from difflib import SequenceMatcher

from stet_ls.validators.source import Source, Span, Splice

MAX_CELLS = 4_000_000
"""Above this many line pairs the middle is replaced as one block: difflib's time grows with their product."""


def splices_between(before: Source, after: Source) -> tuple[Splice, ...]:
    """The edits of `before` that yield `after`, in document order, none adjacent; empty if the texts are equal."""
    if before.text == after.text:
        return ()
    old, new = _lines(before), _lines(after)
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    old_end, new_end = len(old) - tail, len(new) - tail
    return tuple(
        Splice(
            Span(_start(before, head + i1), _start(before, head + i2)),
            b"".join(new[head + j1 : head + j2]).decode("utf-8", "surrogatepass"),
        )
        for i1, i2, j1, j2 in _blocks(old[head:old_end], new[head:new_end])
    )


def changed_span(before: Source, after: Source) -> tuple[Span, Span]:
    """The one region in which two texts differ, to the byte, in each of them."""
    old, new = before.data, after.data
    head = _common(old, new)
    limit = min(len(old), len(new)) - head
    tail = min(_common(old[::-1], new[::-1]), limit)
    return Span(head, len(old) - tail), Span(head, len(new) - tail)


def _blocks(old: list[bytes], new: list[bytes]) -> list[tuple[int, int, int, int]]:
    if len(old) * len(new) > MAX_CELLS or not old or not new:
        return [(0, len(old), 0, len(new))]
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    return [(i1, i2, j1, j2) for tag, i1, i2, j1, j2 in matcher.get_opcodes() if tag != "equal"]


def _lines(source: Source) -> list[bytes]:
    ends = (*source.starts[1:], len(source.data))
    return [source.data[start:end] for start, end in zip(source.starts, ends, strict=True)]


def _start(source: Source, line: int) -> int:
    return source.starts[line] if line < source.line_count else len(source.data)


def _common(old: list[bytes] | bytes, new: list[bytes] | bytes) -> int:
    """The length of the common prefix, by halving: comparing slices runs at C speed."""
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        if old[low:middle] == new[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low

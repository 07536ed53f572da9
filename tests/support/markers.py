"""Cursors and selections inside test texts."""

from __future__ import annotations

from stet_ls.validators.source import Span

MARK = "$0"


def split_markers(text: str) -> tuple[str, Span | None]:
    """The text without its markers, and what they mark: `$0` a position, `$0..$0` (two of them) a selection, in bytes.

    >>> split_markers("a = $0b$0 + c")
    ('a = b + c', Span(start=4, end=5))
    """
    parts = text.split(MARK)
    if len(parts) > 3:
        raise ValueError(f"more than two {MARK} in {text!r}")
    if len(parts) == 1:
        return text, None
    start = len(parts[0].encode())
    end = start + (len(parts[1].encode()) if len(parts) == 3 else 0)
    return "".join(parts), Span(start, end)

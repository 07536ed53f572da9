"""The edges of an edit: line ends, blank lines around new code, the comment with the instruction."""

from __future__ import annotations

from stet_ls.engine.reply.languages.language_table import for_language
from stet_ls.validators.languages import language as language_row
from stet_ls.validators.source import Source, Span

_OPENERS = (":", "{", "(", "[", "do", "then")
_CLOSERS = ("}", ")", "]", "end")
_DEFINITIONS = ("def ", "class ", "async def ", "@")


def line_end_at(source: Source, span: Span) -> str:
    """The most common line end inside a span, else that of its last line, else the document's."""
    inside = source.slice(span)
    if "\n" in inside or "\r" in inside:
        return Source(inside).line_end
    line = source.line_span(source.line_of(span.end), with_end=True)
    after = source.slice(Span(line.start, line.end))
    ending = after[len(after.rstrip("\r\n")) :]
    return ending or source.line_end


def lines_of(source: Source, span: Span) -> Span:
    """The span removed with a comment: its whole lines if they hold nothing else, and one of two blank lines around."""
    first, last = source.line_of(span.start), source.line_of(max(span.start, span.end - 1))
    start, end = source.line_span(first).start, source.line_span(last, with_end=True).end
    before = source.data[start : span.start]
    after = source.data[span.end : source.line_span(last).end]
    if after.strip():
        return span
    if before.strip():
        return Span(span.start - (len(before) - len(before.rstrip(b" \t"))), source.line_span(last).end)
    blank_above = first == 0 or not source.line_text(first - 1).strip()
    is_last = last + 1 >= source.line_count or end >= len(source.data)
    if blank_above and not is_last and not source.line_text(last + 1).strip():
        end = source.line_span(last + 1, with_end=True).end
    return Span(start, end)


def gaps(source: Source, hole: Span, code: str, language: str, indent: str) -> tuple[int, int]:
    """Blank lines that an insertion at `hole` needs above and below: one, two for PEP 8, none at an edge."""
    above = _neighbors(source, range(source.line_of(hole.start) - 1, -1, -1))
    first = source.line_of(hole.end)
    ends_text = hole.end >= len(source.data) and source.line_span(first).start == hole.end
    below = (None, 0) if ends_text else _neighbors(source, range(first, source.line_count))
    if hole.empty and hole.start != source.line_span(first).start:  # after a last line without a line end
        above = (source.line_text(first), 0)
        below = (None, 0)
    most = 1 if indent else for_language(language).blank_lines
    return _gap(above, code.lstrip("\n"), language, most, _OPENERS, 1), _gap(below, code, language, most, _CLOSERS, 0)


def _neighbors(source: Source, numbers: range) -> tuple[str | None, int]:
    """The next line that is not blank, and the number of blank lines before it."""
    blank = 0
    for number in numbers:
        text = source.line_text(number)
        if text.strip("\ufeff \t\f"):
            return text, blank
        blank += 1
    return None, blank


def _gap(
    neighbor: tuple[str | None, int], code: str, language: str, most: int, edges: tuple[str, ...], above: int
) -> int:
    line, blank = neighbor
    if line is None:
        return 0
    text = line.strip()
    row = language_row(language)
    if above and row is not None and row.line_comment and text.startswith(row.line_comment):
        return 0  # a comment above refers to the inserted code
    if (above and text.endswith(edges)) or (not above and text.startswith(edges)):
        return 0
    defines = any(part.startswith(_DEFINITIONS) for part in (code, text) if part) or (
        not above and any(piece.startswith(_DEFINITIONS) for piece in code.split("\n"))
    )
    return max(0, (most if defines else 1) - blank)

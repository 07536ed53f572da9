"""Renders a piece of a document for a model: dedented, without hidden parts, with the line numbers recorded."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from stet_ls.validators.source import Source, Span
from stet_ls.validators.structure import Unit, is_stub
from stet_ls.validators.structure.literals import fixed_lines

# The lines of a body that is still to be written. A small model that is shown them returns them as its answer.
_STUB_LINE = re.compile(
    r"^\s*(?:pass|\.\.\.|return(?:\s+(?:None|nil|null|undefined))?|raise NotImplementedError.*"
    r"|(?:todo|unimplemented)!\(.*|throw new .*(?:[Uu]nsupported|[Nn]ot\s?[Ii]mplemented).*|panic\(.*"
    r"|(?://|#)\s*(?:TODO|FIXME).*)\s*;?\s*$"
)


@dataclass(frozen=True, slots=True)
class CodeView:
    """A text as shown to a model. `lines` holds the document's line, from 0, of each of its lines."""

    text: str
    lines: tuple[int, ...]

    def number(self, line: int) -> int | None:
        """The number, from 1, of a document's line in the shown text; None if it is not shown."""
        return self.lines.index(line) + 1 if line in self.lines else None


def view(source: Source, span: Span, language: str, *, indent: str = "", hidden: Iterable[Span] = ()) -> CodeView:
    """The lines of `span` without `indent` and without the `hidden` spans, with line feeds.

    Lines inside a string keep their white space, since fitting a reply does not change it either. A line that becomes
    empty because something was hidden is dropped.
    """
    hidden = sorted(hidden)
    fixed = fixed_lines(source, language) if indent else frozenset()
    first, last = source.line_of(span.start), source.line_of(span.end)
    shown: list[tuple[int, str]] = []
    for number in range(first, last + 1):
        line = source.line_span(number)
        line = Span(max(line.start, span.start), max(min(line.end, span.end), line.start, span.start))
        text = _without(source, line, hidden)
        if not text.strip() and source.slice(line).strip():
            continue
        shown.append((number, text if number in fixed else text.removeprefix(indent)))
    return CodeView("\n".join(text for _, text in shown), tuple(number for number, _ in shown))


def stub_lines(source: Source, language: str, unit: Unit) -> tuple[Span, ...]:
    """The placeholder lines in a stub's body; none if the unit is no stub."""
    if unit.body is None or not is_stub(source, language, unit):
        return ()
    numbers = range(source.line_of(unit.body.start), source.line_of(unit.body.end) + 1)
    return tuple(source.line_span(number) for number in numbers if _STUB_LINE.match(source.line_text(number)))


def _without(source: Source, line: Span, hidden: Iterable[Span]) -> str:
    pieces = []
    at = line.start
    for gap in hidden:
        if gap.end <= line.start or gap.start >= line.end:
            continue
        pieces.append(source.slice(Span(at, max(at, gap.start))))
        at = max(at, gap.end)
    return "".join([*pieces, source.slice(Span(min(at, line.end), line.end))])

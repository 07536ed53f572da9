"""The position for new members of a class, and the line below a unit."""

from __future__ import annotations

from stet_ls.validators.source import Source
from stet_ls.validators.structure import units
from stet_ls.validators.structure.units import Unit

_STEP = "    "


def member_end(source: Source, language: str, unit: Unit) -> tuple[int, str]:
    """The start of the line before which a new last member of a class goes, and the indentation of its members."""
    margin = indent_at(source, unit.span.start)
    members = [one for one in units(source, language) if one.span != unit.span and unit.span.contains(one.span)]
    starts = [source.line_of(one.span.start) for one in members]
    first = starts[0] if starts else source.line_of(unit.body.start if unit.body is not None else unit.span.start)
    indents = [indent_at(source, source.starts[line]) for line in (first, first + 1) if line < source.line_count]
    indent = next((each for each in indents if len(each) > len(margin)), margin + _STEP)
    last = source.line_of(unit.span.end)
    closes = last > source.line_of(unit.span.start) and source.line_text(last).lstrip().startswith(("}", "end"))
    return (source.starts[last] if closes else below(source, unit)), indent


def below(source: Source, unit: Unit) -> int:
    """The start of the line below a unit; the end of the text if there is none."""
    return source.line_span(source.line_of(unit.span.end) + 1).start


def indent_at(source: Source, start: int) -> str:
    """The white space at the beginning of the line that starts at a byte offset."""
    text = source.line_text(source.line_of(start))
    return text[: len(text) - len(text.lstrip(" \t"))]

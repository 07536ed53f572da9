"""The structure of a text: functions, methods and classes, and the smallest complete one around a position.

Broken code keeps its recognizable structure; for a language without a grammar it is guessed line by line.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from stet_ls.validators.parsing.tree import Parsed
from stet_ls.validators.source import Source, Span
from stet_ls.validators.structure import heuristic_units
from stet_ls.validators.structure.bodies import calls, imports, is_stub, uses
from stet_ls.validators.structure.outline import Symbol, outline
from stet_ls.validators.structure.units import Unit, find, tree_of, whole_lines

if TYPE_CHECKING:
    import tree_sitter

__all__ = [
    "Symbol", "Unit", "calls", "imports", "is_parsed", "is_stub", "outline", "unit_at", "units", "uses",
    "widen",
]  # fmt: skip

# A line at column 0 that continues the lines above it.
_CONTINUES = re.compile(rb"[\s)\]}#]|(?:else|elif|except|finally|catch|end)\b")


def is_parsed(source: Source, language: str) -> bool:
    """True if facts about a text come from a syntax tree, not from guesses line by line."""
    return tree_of(source, language) is not None


def units(source: Source, language: str) -> tuple[Unit, ...]:
    """All units of a text, in the order in which they start, nested ones too."""
    parsed = tree_of(source, language)
    return tuple(found.unit for found in find(parsed)) if parsed else heuristic_units.units(source, language)


def unit_at(source: Source, language: str, span: Span) -> Unit | None:
    """The smallest unit that holds a span (white space at the span's ends does not count); None outside of any.

    A unit that starts in the middle of a line is skipped: its whole lines would contain more than the unit.
    """
    parsed = tree_of(source, language)
    span = _trimmed(source, span)
    if parsed is None:
        known = heuristic_units.units(source, language)
    else:
        known = tuple(found.unit for found in find(parsed) if found.starts_line)
    holding = (unit for unit in known if unit.span.contains(span))
    return min(holding, key=lambda unit: unit.span.end - unit.span.start, default=None)


def widen(source: Source, language: str, span: Span) -> Span:
    """The whole lines of the smallest unit that holds a span, else of the top-level statements that it touches.

    If nothing is recognized (broken code, no grammar, blank lines) these are the span's own lines; in broken code the
    block of lines around it that starts at column 0.
    """
    span = _trimmed(source, span)
    if (unit := unit_at(source, language, span)) is not None:
        return unit.span
    parsed = tree_of(source, language)
    if parsed is None:
        return whole_lines(source, span)
    touched = _top_level(parsed, span)
    pieces = [whole_lines(source, span)]
    if any(node.is_error for node in touched):
        pieces.append(_block(source, span))
    whole = {node.id for node in touched if not node.is_error}
    pieces += [whole_lines(source, parsed.span(node)) for node in touched if node.id in whole]
    # Their doc comments and decorators are above them.
    for one in find(parsed) if whole else ():
        if one.node.id in whole or ((parent := one.node.parent) is not None and parent.id in whole):
            pieces.append(one.unit.span)
    return Span(min(piece.start for piece in pieces), max(piece.end for piece in pieces))


def _top_level(parsed: Parsed, span: Span) -> list[tree_sitter.Node]:
    if parsed.root.is_error:
        return [parsed.root]
    return [node for node in parsed.root.named_children if parsed.span(node).overlaps(span)]


def _trimmed(source: Source, span: Span) -> Span:
    """The span without white space at its ends: an editor's selection of lines ends at column 0 of the next one.

    Of white space alone only the start remains.
    """
    text = source.data[span.start : span.end]
    if not text.strip():
        return Span(span.start, span.start)
    return Span(span.start + len(text) - len(text.lstrip()), span.start + len(text.rstrip()))


def _block(source: Source, span: Span) -> Span:
    """The lines around a span from one that starts at column 0 to the last before the next such line."""
    first, last = source.line_of(span.start), source.line_of(span.end)
    while first > 0 and _continues(source, first):
        first -= 1
    while last + 1 < source.line_count and _continues(source, last + 1):
        last += 1
    while last > first and not source.line_text(last).strip():
        last -= 1
    return whole_lines(source, Span(source.starts[first], max(source.line_span(last).end, span.start)))


def _continues(source: Source, line: int) -> bool:
    span = source.line_span(line)
    return span.empty or bool(_CONTINUES.match(source.data, span.start))

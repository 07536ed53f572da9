"""The lines that an edit is responsible for: those it changed, and the functions around them."""

from __future__ import annotations

from stet_ls.validators import structure
from stet_ls.validators.changed_excerpt import changed_lines
from stet_ls.validators.source import Source
from stet_ls.validators.structure import Unit


def changed_units(before: Source, after: Source, language: str) -> tuple[frozenset[int], tuple[Unit, ...]]:
    """The lines of `after`, from 1, that the edit changed or that share a function with them; and these functions."""
    touched = changed_lines(before.text.splitlines(), after.text.splitlines())
    functions = [unit for unit in structure.units(after, language) if unit.kind == "function"]
    lines, found = set(touched), []
    for unit in functions:
        own = _lines(after, unit)
        if touched & own:
            lines |= own
            found.append(unit)
    return frozenset(lines), tuple(found)


def _lines(source: Source, unit: Unit) -> frozenset[int]:
    return frozenset(range(source.line_of(unit.span.start) + 1, source.line_of(unit.span.end) + 2))

"""The lines that an edit is responsible for: those it changed, and the functions around them."""

from __future__ import annotations

from difflib import SequenceMatcher

from stet_ls.validators import structure
from stet_ls.validators.source import Source
from stet_ls.validators.structure import Unit


def changed_units(before: Source, after: Source, language: str) -> tuple[frozenset[int], tuple[Unit, ...]]:
    """The lines of `after`, from 1, that the edit changed or that share a function with them; and these functions."""
    touched = _changed_lines(before.text.splitlines(), after.text.splitlines())
    functions = [unit for unit in structure.units(after, language) if unit.kind == "function"]
    lines, found = set(touched), []
    for unit in functions:
        own = _lines(after, unit)
        if touched & own:
            lines |= own
            found.append(unit)
    return frozenset(lines), tuple(found)


def _changed_lines(old: list[str], new: list[str]) -> frozenset[int]:
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    found: set[int] = set()
    for tag, _, _, start, end in SequenceMatcher(
        None, old[head : len(old) - tail], new[head : len(new) - tail], autojunk=False
    ).get_opcodes():
        if tag != "equal":
            # What follows a removed line is responsible for the removal.
            found |= set(range(head + start + 1, head + max(end, start + 1) + 1))
    return frozenset(found)


def _lines(source: Source, unit: Unit) -> frozenset[int]:
    return frozenset(range(source.line_of(unit.span.start) + 1, source.line_of(unit.span.end) + 2))

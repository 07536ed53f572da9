"""Small deliberate bugs in a unit: good tests detect them.

Each mutant differs from the text in one place: an operator, a comparison, a constant, a condition, a return, a
removed statement. A mutant with the same text as another, or as the original, is skipped. The edits are those by which
bugs are repaired, as far as they make one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable
from dataclasses import dataclass
from itertools import islice
from random import Random

from stet_ls.engine.actions.generated_tests.wrong_results import wrong_results
from stet_ls.engine.actions.syntax_edits.edit import EditedFunction, SyntaxEdit
from stet_ls.engine.actions.syntax_edits.edits import edits_of, functions_in
from stet_ls.engine.execution.python.inputs.subject import read_module, subject_of
from stet_ls.validators.ast_text import try_parse
from stet_ls.validators.source import Source


@dataclass(frozen=True, slots=True)
class Mutant:
    """The whole text with one change, and the description and line of the change."""

    text: str
    change: str
    line: int


def mutants_of(text: str, unit: str, most: int = 30, lines: Container[int] | None = None) -> list[Mutant]:
    """At most `most` mutants of a unit, spread over all kinds of change; the same for the same unit.

    If `lines` (from 1) are given, only they are changed, first what they return, then each of them once before any of
    them twice.
    """
    module = read_module(text)
    subject = subject_of(module, unit) if module else None
    if subject is None:
        return []
    source = Source(text)
    functions = [EditedFunction(source, each) for each in functions_in(subject.node)]
    found = mutants_by(source, (edit for each in functions for edit in edits_of(each)))
    if lines is None:
        return chosen_mutants([each for each in found if try_parse(each.text)], most)
    wrong = mutants_by(source, (edit for each in functions for edit in wrong_results(each)))
    code = chosen_mutants([each for each in found if each.line in lines], len(found))
    near = [*spread_over_lines(each for each in wrong if each.line in lines), *spread_over_lines(code)]
    return [*islice((each for each in near if try_parse(each.text)), most)]


def mutants_by(source: Source, edits: Iterable[SyntaxEdit]) -> list[Mutant]:
    """The mutants that edits make, without equal texts."""
    found: dict[str, Mutant] = {}
    for edit in edits:
        if edit.mutates:
            new = source.splice(sorted(edit.splices, key=lambda each: each.span)).text
            found.setdefault(new, Mutant(new, edit.change, source.line_of(edit.splices[0].span.start) + 1))
    return list(found.values())


def spread_over_lines(found: Iterable[Mutant]) -> list[Mutant]:
    """The mutants so that each line is changed once before any line is changed twice."""
    seen = Counter[int]()
    ranked = []
    for each in found:
        ranked.append((seen[each.line], each))
        seen[each.line] += 1
    return [each for _, each in sorted(ranked, key=lambda row: row[0])]


def chosen_mutants(chosen: list[Mutant], most: int) -> list[Mutant]:
    """At most `most` of the mutants, always the same ones."""
    Random(0).shuffle(chosen)  # noqa: S311 - the choice must be the same each time
    return chosen[:most]

"""Small deliberate bugs in a JavaScript or TypeScript unit, by the same table as Python's.

Each condition is also replaced by either result: in a measurement (docs/quality.md), these are the bugs that show that
nothing tests one side of a condition.
"""

from __future__ import annotations

from collections.abc import Container
from itertools import zip_longest

from stet_ls.engine.actions.generated_tests.mutants import Mutant, chosen_mutants, mutants_by, spread_over_lines
from stet_ls.engine.actions.generated_tests.wrong_script_results import wrong_script_results
from stet_ls.engine.actions.syntax_edits.edits import script_edits_of
from stet_ls.engine.actions.syntax_edits.script import EditedScript
from stet_ls.engine.execution.javascript.inputs.subject import read_module
from stet_ls.validators.source import Source


def script_mutants_of(
    text: str, language: str, unit: str, most: int, lines: Container[int] | None = None, *, it: str = "(it)"
) -> list[Mutant]:
    """At most `most` mutants of a unit, of a whole text if none is named; the same for the same unit.

    If `lines` (from 1) are given, only they are changed, and every other error is in what they return. `it` are
    the parameters of a function that takes anything.
    """
    module = read_module(text, language)
    found = module.found.get(unit) if module is not None else None
    if module is None or (unit and found is None):
        return []
    source = Source(text)
    edited = EditedScript(source, found.node if found is not None else module.parsed.root)
    mutants = mutants_by(source, script_edits_of(edited))
    if lines is None:
        return chosen_mutants(mutants, most)
    code = chosen_mutants([each for each in mutants if each.line in lines], len(mutants))
    wrong = (each for each in mutants_by(source, wrong_script_results(edited, it)) if each.line in lines)
    rows = zip_longest(wrong, spread_over_lines(code))
    return [each for row in rows for each in row if each is not None][:most]

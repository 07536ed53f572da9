"""Finds special cases for the inputs of tests by running: conditions that decide nothing but the results of these.

`if price * 2 == 20` compares with no input of a test, and is a case for one all the same. So each new condition of a
function is held false once: if all calls that have another result then share one value that tests pass, and many calls
with values near it have the same result, the condition is there for the tests. Only in Python.
"""

from __future__ import annotations

import ast
import asyncio
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from stet_ls.engine.actions.generated_tests.mutants import Mutant, mutants_by
from stet_ls.engine.actions.syntax_edits.edit import UNLIKELY, EditedFunction, SyntaxEdit, short_text
from stet_ls.engine.actions.syntax_edits.edits import functions_in
from stet_ls.engine.execution.python.inputs.subject import known_module, subject_of
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.differential.comparison import Comparison
from stet_ls.engine.judges.differential.excuses.unusual_inputs import ENOUGH
from stet_ls.engine.judges.differential.language_table import COMPARERS
from stet_ls.engine.verify.project_tests.special_cases import USUAL, given_values
from stet_ls.validators.ast_text import try_parse, unparse
from stet_ls.validators.languages import row_for
from stet_ls.validators.source import Source

_MOST = 4
"""Conditions that are tried."""
_LEAST_SECONDS = 4.0
_USUAL = (None, True, False, 0, 1, -1, "", b"")
"""Values that code treats separately for good reasons."""


async def narrow_condition(case: Case, unit: str, tests: Sequence[str]) -> str:
    """What to say of a unit with a new condition that decides only results of one input of its tests, as their texts
    show; "" if there is none. With little time left, nothing is tried.
    """
    comparer, runtime = row_for(COMPARERS, case.language, None), case.runtime
    if comparer is None or runtime is None:
        return ""
    mutants = await asyncio.to_thread(_without_conditions, case.before.text, case.after.text, unit)
    given = await asyncio.to_thread(given_values, unit, tests) if mutants else frozenset()
    for mutant in mutants if given - USUAL else ():
        if runtime.left() < _LEAST_SECONDS:
            return ""
        own = replace(case, before=Source(mutant.text), unit=unit, parts=None, former={})
        found = await comparer.compare(own, runtime, unit)
        if isinstance(found, Comparison) and (value := _shared(found, given - USUAL)):
            return f"`{mutant.change}` in line {mutant.line} decides only calls with {value}, an input of its tests"
    return ""


def _shared(found: Comparison, given: Collection[str]) -> str:
    """A value of tests that all calls with another result share, while many others are alike; "" if there is none."""
    bound = [{*each.call.bindings().items()} for each in found.differences]
    if not bound or len(found.agreed) < ENOUGH:
        return ""
    return next((text for _, text in sorted(set.intersection(*bound)) if text in given), "")


def _without_conditions(before: str, after: str, unit: str) -> list[Mutant]:
    """The texts in which one new condition of a unit never holds. Parses."""
    module = known_module(after)
    subject = subject_of(module, unit) if module else None
    if module is None or subject is None:
        return []
    known = {unparse(each) for each in _conditions(try_parse(before) or ast.Module([], []))}
    source = Source(after)

    def edits() -> Iterator[SyntaxEdit]:
        for function in functions_in(subject.node):
            code = EditedFunction(source, function)
            for each in _conditions(function):
                if unparse(each) not in known and _names_value(each, module.values):
                    text = "True" if _excludes(each) else "False"
                    yield code.replaced(each, text, UNLIKELY, short_text(code.text(each)), mutates=True)

    return mutants_by(source, edits())[:_MOST]


def _conditions(tree: ast.AST) -> Iterator[ast.expr]:
    for each in ast.walk(tree):
        if isinstance(each, ast.If | ast.IfExp | ast.While):
            yield each.test
        elif isinstance(each, ast.comprehension):
            yield from each.ifs
        elif isinstance(each, ast.match_case) and each.guard is not None:
            yield each.guard


def _names_value(condition: ast.expr, values: dict[str, ast.expr]) -> bool:
    """Whether a condition holds a value that is not a usual one, or a constant of the module."""
    return any(
        (isinstance(each, ast.Constant) and each.value not in _USUAL)
        or (isinstance(each, ast.Name) and each.id in values)
        for each in ast.walk(condition)
    )


def _excludes(condition: ast.expr) -> bool:
    """Whether a condition is one that all but a few values meet: `x != 10`."""
    return isinstance(condition, ast.Compare) and isinstance(condition.ops[0], ast.NotEq | ast.NotIn | ast.IsNot)

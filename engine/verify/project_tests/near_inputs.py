"""Finds special cases for the inputs of tests by running: conditions that decide nothing but the results of these.

`if price * 2 == 20` compares with no input of a test, and is a case for one all the same. So each new condition of a
function is held false once: if all calls that have another result then share one value that tests pass, and many calls
with other values have the same result, the condition is there for the tests.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from stet_ls.engine.actions.generated_tests.languages.language_table import for_language
from stet_ls.engine.execution.harness_run import Call
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.differential.comparison import Comparison
from stet_ls.engine.judges.differential.excuses.unusual_inputs import ENOUGH
from stet_ls.engine.judges.differential.language_table import COMPARERS
from stet_ls.engine.verify.project_tests.special_cases import USUAL
from stet_ls.validators.languages import row_for
from stet_ls.validators.source import Source

_MOST = 4
"""Conditions that are tried."""
_LEAST_SECONDS = 4.0
_LITERAL = re.compile(r"""(?<![\w$.])-?\d+(?:\.\d+)?|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`$\\]*`""")


async def narrow_condition(case: Case, unit: str, tests: Sequence[str]) -> str:
    """What to say of a unit with a new condition that decides only results of one input of its tests, as their texts
    show; "" if there is none. With little time left, nothing is tried.
    """
    comparer, runtime = row_for(COMPARERS, case.language, None), case.runtime
    row = for_language(case.language)
    if comparer is None or runtime is None or row.conditions is None:
        return ""
    mutants = await asyncio.to_thread(row.conditions, case.before.text, case.after.text, case.language, unit)
    callee = unit.rpartition(".")[2]
    given: set[str] = set()
    for text in tests if mutants else ():
        given |= {_plain(each) for each in await asyncio.to_thread(row.arguments, callee, text, case.language)}
    given -= {_plain(each) for each in USUAL}
    for mutant in mutants[:_MOST] if given else ():
        if runtime.left() < _LEAST_SECONDS:
            return ""
        # Where the text without the condition fails, that is a difference: so it is the new one.
        own = replace(case, before=case.after, after=Source(mutant.text), unit=unit, parts=None, former={})
        found = await comparer.compare(own, runtime, unit)
        if isinstance(found, Comparison) and (value := _shared(found, given)):
            return f"`{mutant.change}` in line {mutant.line} decides only calls with {value}, an input of its tests"
    return ""


def _shared(found: Comparison, given: Collection[str]) -> str:
    """A value of tests that all calls with another result hold, and many calls without it are alike; "" if there is
    none.
    """
    differing = [_values(each.call) for each in found.differences]
    alike = [_values(each) for each in found.agreed]
    shared = sorted(set.intersection(*differing) & {*given}) if differing else []
    return next((each for each in shared if sum(each not in values for values in alike) >= ENOUGH), "")


def _values(call: Call) -> set[str]:
    return {_plain(each) for each in _LITERAL.findall(f"{call.setup}\n{call.body}")}


def _plain(literal: str) -> str:
    """A literal with the same quotes in every language."""
    return f"'{literal[1:-1]}'" if literal[:1] in '"`' else literal

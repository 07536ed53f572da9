"""Tries mutants on a file of tests that is not split: each mutant takes one run of the file."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from stet_ls.engine.actions.generated_tests.flakiness import outcome
from stet_ls.engine.actions.generated_tests.mutants import Mutant
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.runners.plan import TestPlan
from stet_ls.engine.runners.report import CaseOutcome, SuiteOutcome
from stet_ls.engine.runners.run_tests import run_tests
from stet_ls.engine.sandbox.spec import TESTS

_SECONDS, _SHARE = 15.0, 1 / 3
"""What all runs take at most, and their share of the time that is left."""
_LONGEST = 5.0
_NO_RESULT = frozenset({SuiteOutcome.REFUSED, SuiteOutcome.NO_RUNNER})


@dataclass(frozen=True, slots=True)
class WholeTrial:
    """How many mutants were tried, and the numbers of those that each test detected, by the tests' ids after the file
    name. `survivors` were detected by none.
    """

    tried: int = 0
    survivors: tuple[Mutant, ...] = ()
    kills: Mapping[str, frozenset[int]] = field(default_factory=dict)


async def try_on_whole(
    runtime: Runtime, plan: TestPlan, target: str, passing: Sequence[str], mutants: Sequence[Mutant]
) -> WholeTrial:
    """Runs a plan whose tests `passing` pass on each mutant of the text `target`, as far as there is time."""
    end = time.monotonic() + min(_SECONDS, _SHARE * runtime.left())
    limits = replace(plan.limits or TESTS, seconds=_LONGEST)
    tried, kills = 0, {test: set[int]() for test in passing}
    for number, mutant in enumerate(mutants):
        if time.monotonic() > end - 1:
            break
        files = {**plan.files, target: mutant.text.encode("utf-8", "surrogatepass")}
        report = await run_tests(runtime.sandbox, replace(plan, files=files, limits=limits))
        if report.starved or report.outcome in _NO_RESULT:
            break
        tried += 1
        for test in passing:
            if outcome(report, test) is not CaseOutcome.PASSED:
                kills[test].add(number)
    noticed = set[int]().union(*kills.values())
    survivors = tuple(mutant for number, mutant in enumerate(mutants[:tried]) if number not in noticed)
    return WholeTrial(tried, survivors, {test: frozenset(each) for test, each in kills.items()})

"""Tries mutants on a file of tests that is not split: each mutant takes one run of the file."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from stet_ls.engine.actions.generated_tests.flakiness import outcome
from stet_ls.engine.actions.generated_tests.mutants import Mutant
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.runners.plan import TestPlan
from stet_ls.engine.runners.report import CaseOutcome, SuiteOutcome, TestReport
from stet_ls.engine.runners.run_tests import run_tests
from stet_ls.engine.sandbox.spec import TESTS

_SECONDS, _SHARE = 15.0, 1 / 3
"""What all runs take at most, and their share of the time that is left."""
_LONGEST = 5.0
_NO_RESULT = frozenset({SuiteOutcome.REFUSED, SuiteOutcome.NO_RUNNER})


@dataclass(frozen=True, slots=True)
class WholeTrial:
    """How many mutants were tried, and those that no test detected."""

    tried: int = 0
    survivors: tuple[Mutant, ...] = ()


async def try_on_whole(
    runtime: Runtime, plan: TestPlan, target: str, passing: Sequence[str], mutants: Sequence[Mutant]
) -> WholeTrial:
    """Runs a plan whose tests `passing` pass on each mutant of the text `target`, as far as there is time."""
    end = time.monotonic() + min(_SECONDS, _SHARE * runtime.left())
    limits = replace(plan.limits or TESTS, seconds=_LONGEST)
    tried, survivors = 0, list[Mutant]()
    for mutant in mutants:
        if time.monotonic() > end - 1:
            break
        files = {**plan.files, target: mutant.text.encode("utf-8", "surrogatepass")}
        report = await run_tests(runtime.sandbox, replace(plan, files=files, limits=limits))
        if report.starved or report.outcome in _NO_RESULT:
            break
        tried += 1
        survivors += [mutant] if _pass(report, passing) else []
    return WholeTrial(tried, tuple(survivors))


def _pass(report: TestReport, passing: Sequence[str]) -> bool:
    return all(outcome(report, test) is CaseOutcome.PASSED for test in passing)

"""Runs each test three times, with different hash seeds: a test with different outcomes is flaky."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from stet_ls.engine.runners.plan import TestPlan
from stet_ls.engine.runners.report import CaseOutcome, TestReport
from stet_ls.engine.runners.run_tests import run_tests
from stet_ls.engine.sandbox.spec import Box

TIMES = 3


@dataclass(frozen=True, slots=True)
class FlakinessResult:
    """Tests by their ids after the file name. `bad` had the same outcome without passing; `reports` are of all runs."""

    bad: tuple[str, ...]
    flaky: tuple[str, ...]
    reports: tuple[TestReport, ...]

    @property
    def starved(self) -> list[TestReport]:
        """The runs that did not finish because they got too little CPU time: they prove nothing about any test."""
        return [report for report in self.reports if report.starved]


async def run_three_times(box: Box, plan: TestPlan, first: TestReport, tests: Sequence[str]) -> FlakinessResult:
    """Runs a plan twice more after its first report."""
    more = [await run_tests(box, replace(plan, seed=first.seed + again)) for again in range(1, TIMES)]
    reports = (first, *more)
    ended = {test: [outcome(report, test) for report in reports] for test in tests}
    good = {test for test in tests if set(ended[test]) == {CaseOutcome.PASSED}}
    flaky = tuple(test for test in tests if len(set(ended[test])) > 1)
    return FlakinessResult(tuple(test for test in tests if test not in {*good, *flaky}), flaky, reports)


def outcome(report: TestReport, test: str) -> CaseOutcome:
    """The outcome of a test, for all cases of a parametrized one together."""
    outcomes = [case.outcome for case in report.cases if name_without_parameters(case.id) == test]
    if not outcomes:
        return CaseOutcome.NOT_RUN
    return next((each for each in outcomes if each is not CaseOutcome.PASSED), CaseOutcome.PASSED)


def name_without_parameters(identifier: str) -> str:
    """A test's id after the file name, without its parameters."""
    return identifier.partition("::")[2].partition("[")[0]

"""Whether the project's passing tests execute what changed in a file, from runs that all files share."""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import replace

from stet_ls.engine.api.evidence import Check, Evidence, Ruling
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.project_tests.executed_changes import PassingTests, judge_execution
from stet_ls.engine.judges.project_tests.forgery_risks import unless_forged
from stet_ls.engine.judges.project_tests.reachability import tests_naming
from stet_ls.engine.runners.report import CaseOutcome, SuiteOutcome, TestReport
from stet_ls.engine.verify.changes.change import ChangedFile
from stet_ls.engine.verify.project_tests.runs_of_tests import SuiteRuns, TestRuns
from stet_ls.engine.verify.report import CheckResult


async def is_change_executed(
    case: Case, file: ChangedFile, suite: SuiteRuns, runs: TestRuns, *, is_worse: bool
) -> CheckResult:
    """Whether tests that pass on the new tree execute the change of a file."""
    started = time.perf_counter()
    if runs.problem or runs.left_out or runs.after is None:
        if runs.problem:
            return CheckResult(Check.TESTS.value, Ruling.SKIPPED, runs.problem)
        return CheckResult.late(Check.TESTS)
    if file.path not in suite.selected.of_files or suite.runtime.left() <= 0:
        return CheckResult.late(Check.TESTS)
    if not suite.selected.of_files[file.path]:
        return CheckResult(Check.TESTS.value, Ruling.SKIPPED, f"no project test uses {file.path}")
    if is_worse:
        return CheckResult(Check.TESTS.value, Ruling.UNKNOWN, "tests fail")
    if file.after is None:
        return CheckResult(Check.TESTS.value, Ruling.UNKNOWN, "tests pass without it")
    found = await _evidence(case, file, suite, runs, runs.after)
    found = replace(found, seconds=time.perf_counter() - started)
    return replace(CheckResult.of(found, proves=found.verdict is Ruling.PASS), refutes=False)


async def _evidence(case: Case, file: ChangedFile, suite: SuiteRuns, runs: TestRuns, after: TestReport) -> Evidence:
    selected = suite.selected
    here = {*selected.of_files[file.path]}

    def ended(report: TestReport | None, *how: CaseOutcome) -> frozenset[str]:
        cases = report.cases if report is not None else ()
        near = (each for each in cases if each.outcome in how and _is_near(each.id, here, selected.tests))
        return frozenset(each.id for each in near) - runs.flaky

    passing = ended(after, CaseOutcome.PASSED)
    was = ended(runs.before, CaseOutcome.FAILED, CaseOutcome.ERROR)
    failing = ended(after, CaseOutcome.FAILED, CaseOutcome.ERROR)
    if not passing:
        first = min(failing, default="")
        why = f"{first}: {runs.details.get(first, 'fails')}" if first else after.detail or after.outcome.value
        return Evidence(Check.TESTS, Ruling.UNKNOWN, f"no test of {file.path} passes: {why}")
    tests = PassingTests(passing, passing & was, len(failing))

    def named_in(ids: Collection[str], names: frozenset[str]) -> frozenset[str]:
        return tests_naming(ids, names, case.after.text, selected.helpers, selected.texts, case.language)

    async def rerun(text: str) -> TestReport | None:
        return await suite.on_text(file.path, text)

    found = await judge_execution(case, tests, after.traced.get(file.path), named_in, rerun)
    before = runs.before or TestReport("", SuiteOutcome.NOTHING_RAN)
    return await unless_forged(found, case, before, after)


def _is_near(identifier: str, here: Collection[str], tests: Collection[str]) -> bool:
    """Whether a test is in one of the files `here`, or in none that is known: some runners name no files."""
    path = identifier.partition("::")[0]
    return path in here or path not in tests

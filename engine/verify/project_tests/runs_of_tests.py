"""Runs the project's tests on both trees: the old and the new tests, each on the old and the new code.

Each pair of tree and tests runs once, whatever is asked of it afterwards. Patterns (a skip, a tolerance, a mock) blame
honest changes; what the old test says about the new code does not.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256

from stet_ls.engine.execution.language_table import for_language as execution_of
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.judges.project_tests.report_text import failure_text
from stet_ls.engine.runners.language_table import for_language
from stet_ls.engine.runners.plan import SuiteOwner, TestPlan
from stet_ls.engine.runners.report import CaseOutcome, SuiteOutcome, TestReport
from stet_ls.engine.runners.run_tests import run_tests
from stet_ls.engine.sandbox.spec import Overlay
from stet_ls.engine.verify.changes.change import Change, ChangedFile, is_of_tests
from stet_ls.engine.verify.project_tests.selected_tests import SelectedTests
from stet_ls.engine.verify.project_tests.setup_of_tests import is_setup
from stet_ls.engine.verify.stored.idle_tests import IdleTests
from stet_ls.engine.verify.stored.kept_runs import KeptRuns

_LEAST_SECONDS = 2.0
_ALL_IDLE = "no project test executes what changed, as an earlier run showed"
_MOST_TRACED = 100
_FAILS = frozenset({CaseOutcome.FAILED.value, CaseOutcome.ERROR.value, CaseOutcome.NOT_RUN.value, ""})
Outcomes = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class TestRuns:
    """The outcomes of the tests of one language on both trees, by their ids.

    `details` says why a test failed on the new code. `problem` says why there are no outcomes, `left_out` what was not
    run. `flaky` tests had several outcomes, `idle` test files need not run. `before` and `after` are the whole reports
    of either tree's own tests.
    """

    __test__ = False

    language: str
    selected: SelectedTests = field(default_factory=SelectedTests, repr=False)
    old_on_old: Outcomes = field(default_factory=dict)
    old_on_new: Outcomes = field(default_factory=dict)
    new_on_old: Outcomes = field(default_factory=dict)
    new_on_new: Outcomes = field(default_factory=dict)
    details: Mapping[str, str] = field(default_factory=dict)
    flaky: frozenset[str] = frozenset()
    idle: frozenset[str] = frozenset()
    problem: str = ""
    left_out: str = ""
    refused: bool = False
    before: TestReport | None = field(default=None, repr=False)
    after: TestReport | None = field(default=None, repr=False)


class SuiteRuns:
    """The runs of one language's tests for a change. `slots` limits how many processes run at once.

    `kept` are the results of earlier runs.
    """

    def __init__(
        self,
        change: Change,
        language: str,
        runtime: Runtime,
        files: Sequence[ChangedFile],
        selected: SelectedTests,
        slots: asyncio.Semaphore,
        kept: KeptRuns,
    ) -> None:
        self.selected, self.runtime, self._kept = selected, runtime, kept
        self._change, self._language, self._slots = change, language, slots
        self._changed = [each for each in files if is_of_tests(each.path)]
        self._product = [each for each in files if not is_of_tests(each.path)][:_MOST_TRACED]
        self.files = files

    async def all(self, old_is_known: Callable[[TestReport | None], None] = lambda _: None) -> TestRuns:
        """The four runs; the two in the middle only for test files that changed. `old_is_known` gets the first."""
        if not self.selected.tests:
            return TestRuns(self._language, self.selected, problem="no project test uses what changed")
        known = await asyncio.to_thread(IdleTests, self._kept, self._language, self.files)
        idle = await asyncio.to_thread(known.among, self.selected.tests, self.selected.texts)
        tests = tuple(each for each in self.selected.tests if each not in idle)
        selected = self.selected = replace(self.selected, tests=tests)
        if not tests:
            return TestRuns(self._language, selected, problem=_ALL_IDLE, idle=idle)
        runs = await self._all_of(selected, old_is_known)
        await asyncio.to_thread(known.learn, runs.after)
        return replace(runs, idle=idle)

    async def _all_of(self, selected: SelectedTests, old_is_known: Callable[[TestReport | None], None]) -> TestRuns:
        if self.runtime.lacks_interpreter(self._language):
            return TestRuns(self._language, selected, problem=self.runtime.why_no_python or "no interpreter was found")
        if self.runtime.left() < _LEAST_SECONDS:
            return TestRuns(self._language, selected, left_out="the tests were not run: no time left")
        return await self._all(old_is_known)

    async def _all(self, old_is_known: Callable[[TestReport | None], None]) -> TestRuns:
        old_tests = {each.was: each.before or b"" for each in self._changed}
        new_tests = {each.path: each.after or b"" for each in self._changed}
        old_only = dict.fromkeys(new_tests.keys() - old_tests.keys(), b"") | old_tests
        new_only = dict.fromkeys(old_tests.keys() - new_tests.keys(), b"") | new_tests
        old, new = dict(self._change.old), dict(self._change.new)
        added = {each.path for each in self._changed if each.before is None or each.was != each.path}
        removed = {each.was for each in self._changed if each.after is None or each.was != each.path}
        tests = self.selected.tests
        setup = {each.was: each.before or b"" for each in self._change.files if is_setup(each)}

        def _is_again(path: str) -> bool:
            """The set-up of tests concerns them all: with the old one, every test has to say the same."""
            return path in old_only or bool(setup)

        async def before() -> TestReport | None:
            captured = tuple(each.was for each in self._product if each.before is not None)
            found = await self._run(old, [each for each in tests if each not in added], captured=captured, is_old=True)
            old_is_known(found)
            return found

        traced = tuple(each.path for each in self._product if each.after is not None)
        again = [each for each in tests if _is_again(each) and each not in added]
        left = [each for each in tests if each not in removed]

        async def after() -> TestReport | None:
            if not left:
                return TestReport("", SuiteOutcome.NOTHING_RAN)
            return await self._run(new, left, traced=traced)

        first, last, middle, other = await asyncio.gather(
            before(),
            after(),
            self._run({**new, **old_only, **setup}, again),
            self._run({**old, **new_only}, [each for each in left if each in old_only], is_old=True),
        )
        if problem := _problem(first, last, self.runtime):
            refused = any(each is not None and each.outcome == "refused" for each in (first, last))
            return TestRuns(self._language, self.selected, problem=problem, refused=refused)
        runs = TestRuns(
            self._language, self.selected, _outcomes(first), _outcomes(middle), _outcomes(other), _outcomes(last),
            {**_details(middle), **_details(last)}, before=first, after=last,
            left_out="the tests as they were did not run on the new code: no time left" if again and not middle else "",
        )  # fmt: skip
        return await self._without_flaky(runs, old, new)

    async def on_text(self, path: str, text: str) -> TestReport | None:
        """The new tests on the new tree with another text of one file; None if there is no time left."""
        removed = {each.was for each in self._changed if each.after is None or each.was != each.path}
        tests = [each for each in self.selected.tests if each not in removed]
        return await self._run({**self._change.new, path: text.encode("utf-8", "surrogatepass")}, tests)

    async def _without_flaky(self, runs: TestRuns, old: dict[str, bytes], new: dict[str, bytes]) -> TestRuns:
        """Runs tests that passed and now fail again, thrice in all, before anybody is blamed."""
        lost = sorted(each for each, how in runs.old_on_old.items()
                      if how == CaseOutcome.PASSED and runs.new_on_new.get(each) in _FAILS)  # fmt: skip
        if not lost:
            return runs
        tests = self.selected.tests
        paths = sorted({each.partition("::")[0] for each in lost} & {*tests}) or list(tests)
        again = await asyncio.gather(
            *(
                self._run(over, paths, select=lost, seed=seed, is_old=over is old)
                for over, seed in ((new, 1), (new, 2), (old, 1))
            )
        )
        if any(each is None or each.inconclusive for each in again):
            return replace(runs, flaky=frozenset(lost), left_out="failing tests were not run again: no time left")
        passed = [{each for each, how in _outcomes(report).items() if how == CaseOutcome.PASSED} for report in again]
        return replace(runs, flaky=frozenset({*lost} & (passed[0] | passed[1])) | ({*lost} - passed[2]))

    async def _run(
        self,
        over: Mapping[str, bytes],
        tests: Sequence[str],
        *,
        select: Sequence[str] = (),
        seed: int = 0,
        traced: tuple[str, ...] = (),
        captured: tuple[str, ...] = (),
        is_old: bool = False,
    ) -> TestReport | None:
        if not tests:
            return None
        row = execution_of(self._language)
        plan = TestPlan(
            self._language, tests=tuple(tests), overlay=Overlay(self._change.root, over), suite=SuiteOwner.PROJECT,
            select=tuple(select), environment=self.runtime.environment(self._language), seed=seed,
            until=self.runtime.until, limits=for_language(self._language).limits,
            traced=traced if row.traces_lines else (), captured=captured if row.captures_calls else (),
        )  # fmt: skip
        replaced = {path: sha256(data).hexdigest() for path, data in over.items()}

        async def run() -> TestReport | None:
            async with self._slots:
                return await run_tests(self.runtime.sandbox, plan) if self.runtime.left() >= _LEAST_SECONDS else None

        parts = (plan.tests, plan.select, plan.seed, plan.traced, plan.captured, replaced)
        return await self._kept.tests(parts, plan.tests, run, is_old=is_old)


def _problem(first: TestReport | None, last: TestReport | None, runtime: Runtime) -> str:
    """Why the runs say nothing; "" if they do."""
    if last is None:
        return "no time left to run the tests"
    if last.inconclusive and (first is None or first.inconclusive or last.starved):
        return f"cannot run the project's tests: {runtime.excuse('pytest') or last.why_not}"
    return ""


def _outcomes(report: TestReport | None) -> dict[str, str]:
    if report is None:
        return {}
    broken = {each.path: CaseOutcome.ERROR.value for each in report.collection}
    return broken | {each.id: each.outcome.value for each in report.cases}


def _details(report: TestReport | None) -> dict[str, str]:
    if report is None:
        return {}
    broken = {each.path: failure_text(each.failure) for each in report.collection}
    return broken | {each.id: failure_text(each.failure) for each in report.cases if each.failure is not None}

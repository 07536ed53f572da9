"""Runs the project's tests before and after: passing tests must still pass, and those to be fixed must pass."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, NamedTuple

from stet_ls.engine.api.evidence import Attachment, Check, Evidence, Ruling
from stet_ls.engine.execution.language_table import for_language
from stet_ls.engine.execution.runtime import RunExtent, Runtime
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.project_tests import required_packages
from stet_ls.engine.judges.project_tests.discovery import TouchingTests, touching_tests
from stet_ls.engine.judges.project_tests.executed_changes import PassingTests, judge_execution
from stet_ls.engine.judges.project_tests.forgery_risks import unless_forged
from stet_ls.engine.judges.project_tests.reachability import runs_any, test_name, tests_naming
from stet_ls.engine.judges.project_tests.report_text import (
    failure_output,
    failure_place,
    failure_text,
    first_failure_text,
    passing_text,
    test_names,
)
from stet_ls.engine.plurals import plural
from stet_ls.engine.runners.captured_calls import CapturedCalls
from stet_ls.engine.runners.plan import SuiteOwner, TestPlan
from stet_ls.engine.runners.report import CaseOutcome, SuiteOutcome, TestReport, TracedLines
from stet_ls.engine.runners.run_tests import run_tests
from stet_ls.engine.sandbox.spec import Overlay
from stet_ls.validators.structure import units

_LEAST_SECONDS = 2.0


async def judge(case: Case) -> Evidence:
    """Runs the tests that touch the target. Trusted: they are the user's, and the edit does not change them."""
    run = await _runs(case)
    if isinstance(run, Evidence):
        return run
    before, after = await run.before(), await run.after()
    return await unless_forged(await _compared(case, before, after, run), case, before, after)


async def _runs(case: Case) -> _Runs | Evidence:
    """The tests to run; evidence with the reason if there are none."""
    runtime, path = case.runtime, case.path
    if path is None:
        return _evidence(Ruling.SKIPPED, "save the document to run its project's tests")
    if runtime is None:
        return _evidence(Ruling.SKIPPED, "no code ran")
    if runtime.extent is RunExtent.BRIEF:
        return _evidence(Ruling.SKIPPED, "not run: project tests need the budget `standard` or larger")
    root = runtime.root_of(path)
    if root is None:
        return _evidence(Ruling.SKIPPED, "the file is in no open folder; open its project to run its tests")
    buffers = {buffer.path: buffer.text for buffer in runtime.workspace.buffers}
    found = await asyncio.to_thread(touching_tests, root, path, case.unit, case.language, buffers)
    tests = found.tests
    if not tests:
        about = f"`{case.unit}`" if case.unit else path.name
        return _evidence(Ruling.SKIPPED, f"no project test uses {about}")
    if runtime.left() < _LEAST_SECONDS:
        return _evidence(Ruling.UNKNOWN, f"no time left to run {plural(len(tests), 'test file')}")
    if for_language(case.language).needs_interpreter:
        wanted = await asyncio.to_thread(required_packages.texts, root, found.texts, buffers)
        runtime = await runtime.fit(case.before.text, case.after.text, *wanted)
    return _Runs(case, runtime, root, found, buffers)


class FailingTest(NamedTuple):
    """A failing test: its id, the problem in words, and the place (" (in f, a.py:3)", "" if unknown)."""

    id: str
    problem: str
    place: str

    @property
    def name(self) -> str:
        """The test's name without that of its file."""
        return self.id.rpartition("::")[2]


async def failing(case: Case) -> tuple[FailingTest, ...]:
    """The tests that touch the target and fail on the text before; empty if none could be run.

    A test file that cannot be loaded is named by its path, unless a package is missing: that is not the code's fault.
    """
    run = await _runs(case)
    if isinstance(run, Evidence):
        return ()
    report = await run.before()
    failed = [each for each in report.failed() if each.failure is not None and not run.excuse(each.failure.module)]
    wrong = [(each.id, each.failure) for each in failed if each.failure]
    wrong += [(each.path, each.failure) for each in report.collection if not each.failure.module]
    return tuple(FailingTest(name, failure_text(failure), failure_place(failure)) for name, failure in wrong)


@dataclass(frozen=True, slots=True)
class TestsBefore:
    """The project's tests that touch a unit, as they ran on the text before: how to run them, and their ids."""

    __test__: ClassVar[bool] = False

    plan: TestPlan
    failing: tuple[str, ...]
    passing: frozenset[str]


async def tests_before(case: Case) -> TestsBefore | None:
    """The tests that touch the target; None if none could be run, or if what fails is no single test."""
    run = await _runs(case)
    if isinstance(run, Evidence):
        return None
    report = await run.before()
    unable = _unable(report, run.excuse)
    failing = tuple(each.id for each in report.failed() if each.failure is not None and each.id not in unable)
    return TestsBefore(run.plan(case.before.text), failing, report.passed) if report.cases else None


async def covering(case: Case) -> TestReport | str:
    """The tests that touch the target, run with coverage on the text after; a sentence if there is no such run."""
    run = await _runs(case)
    return run.detail if isinstance(run, Evidence) else await run.covered()


class _Runs:
    """Runs the same tests on the text before and after; keeps the report of the text before for the next candidate."""

    def __init__(
        self, case: Case, runtime: Runtime, root: Path, found: TouchingTests, buffers: Mapping[Path, str]
    ) -> None:  # fmt: skip
        self._case, self._runtime, self._root, self._tests = case, runtime, root, found.tests
        self._buffers, self._found = buffers, found
        self.excuse = runtime.excuse
        self._path = case.path.relative_to(root).as_posix() if case.path is not None else ""
        self.is_of_tests = self._path in found.tests

    async def before(self, seed: int = 0) -> TestReport:
        """Runs with the user's current text."""
        python = self._runtime.python.key if self._runtime.python is not None else ""
        key = (self._root, self._tests, self._case.before.text, seed, python)
        known: TestReport | None = self._runtime.reports.get(key)
        if known is None:
            known = await self._run(self._case.before.text, seed=seed, captured=True)
            if not known.starved:
                self._runtime.reports[key] = known
            if self._case.path is not None and not seed:
                captured = known.captured.get(self._path, CapturedCalls())
                self._runtime.captured[self._case.path, self._case.before.text] = captured
        return known

    async def again(self) -> TestReport | None:
        """Runs on the text before again with another seed; None if there is no time for that."""
        return await self.before(seed=1) if self._runtime.left() >= _LEAST_SECONDS else None

    async def after(self, select: Sequence[str] = (), seed: int = 0) -> TestReport:
        """Runs with the candidate in place."""
        return await self._run(self._case.after.text, select, seed, traced=True)

    async def covered(self) -> TestReport:
        """Runs with the candidate in place, and measures lines and branches."""
        return await run_tests(self._runtime.sandbox, replace(self.plan(self._case.after.text), coverage=True))

    def traced(self, report: TestReport) -> TracedLines | None:
        """The lines of the target that ran; None if unknown."""
        return report.traced.get(self._path)

    async def other(self, text: str) -> TestReport | None:
        """Runs with another text in its place; None if there is no time for that."""
        return await self._run(text) if self._runtime.left() >= _LEAST_SECONDS else None

    def named_in(self, ids: Collection[str], names: frozenset[str]) -> frozenset[str]:
        """The tests among some that use one of `names`, or what leads to it. Parses: not for an event loop."""
        case, found = self._case, self._found
        return tests_naming(ids, names, case.after.text, found.helpers, found.texts, case.language)

    def about_target(self, ids: Collection[str]) -> frozenset[str]:
        """The tests among some that use the target, or what leads to it; all of them if names are not enough.

        Without a unit, the target is all units that only the candidate has. Parses: not for an event loop.
        """
        language, names = self._case.language, self._found.leads
        if not self._case.unit:
            old, new = ({each.name for each in units(text, language)} for text in (self._case.before, self._case.after))
            names = frozenset(new - old) or None
        return frozenset(each for each in ids if names is None or self._names(each, names))

    def _names(self, identifier: str, names: frozenset[str]) -> bool:
        text = self._found.texts.get(identifier.partition("::")[0])
        return text is None or runs_any(test_name(identifier), text, names, self._case.language)

    async def _run(
        self, text: str, select: Sequence[str] = (), seed: int = 0, *, traced: bool = False, captured: bool = False
    ) -> TestReport:  # fmt: skip
        plan = self.plan(text, select, seed, traced=traced)
        if captured and self._case.path is not None:
            plan = replace(plan, captured=(self._path,))
        return await run_tests(self._runtime.sandbox, plan)

    def plan(self, text: str, select: Sequence[str] = (), seed: int = 0, *, traced: bool = False) -> TestPlan:
        """How the tests run with a text in place of the document's."""
        assert self._case.path is not None
        texts = {**self._buffers, self._case.path: text}
        inside = {
            path.relative_to(self._root).as_posix(): each.encode("utf-8", "surrogatepass")
            for path, each in texts.items()
            if path.is_relative_to(self._root)
        }
        return TestPlan(
            self._case.language,
            tests=self._tests,
            overlay=Overlay(self._root, inside),
            suite=SuiteOwner.PROJECT,
            select=tuple(select),
            environment=self._runtime.environment(self._case.language),
            seed=seed,
            until=self._runtime.until,
            traced=(self._path,) if traced else (),
        )


async def _compared(case: Case, before: TestReport, after: TestReport, run: _Runs) -> Evidence:
    starved = [report for report in (before, after) if report.starved]
    if starved or (after.inconclusive and before.outcome is after.outcome):
        why_not = starved[0].why_not if starved else run.excuse("pytest") or after.why_not
        return _evidence(Ruling.UNKNOWN, f"cannot run the project's tests: {why_not}")
    fixes = case.spec.fixes and bool(before.failed())
    passed, passing = before.passed, after.passed
    # A test that is skipped or expected to fail now says nothing: the code may have requested that itself.
    lost = passed - passing
    worse = bool(lost) or (not passed and _broken(after) and not _broken(before))
    unable = _unable(after, run.excuse)
    if worse and unable and not _failed_otherwise(after, lost, run.excuse):
        # Trusted, so that the user is asked: they could be run before.
        excuse = next(iter(unable.values()))
        return replace(_evidence(Ruling.UNKNOWN, f"cannot run the project's tests: {excuse}"), trusted=True)
    lost -= unable.keys()
    again = await run.again() if lost or fixes else None
    flaky = _flaky(before, again) if again is not None else frozenset()
    lost -= flaky
    if lost:
        proven, unconfirmed = await _confirmed(lost, again, after, run)
        if not proven:
            return unconfirmed
        lost = proven
    if lost or (not passed and _broken(after) and not _broken(before)):
        return _failed(f"{first_failure_text(after, lost)} (passed before)", after, lost)
    failed = {each.id for each in after.failed()} - flaky - unable.keys()
    was = {each.id for each in before.failed()} - flaky
    if case.spec.fixes and was & failed and not was - failed:
        wanted = await asyncio.to_thread(run.about_target, was & failed)
        if wanted:
            return _failed(f"{first_failure_text(after, wanted)} (as before)", after, wanted)
    passing -= flaky
    uncounted = f"; ignored as flaky before the change: {test_names(flaky)}" if flaky else ""
    if not passed - flaky and not passing:
        why_none = next(iter(unable.values()), "") or after.detail or after.outcome
        return _evidence(Ruling.UNKNOWN, f"no test passed before or after: {why_none}{uncounted}")
    if run.is_of_tests:
        detail = passing_text(len(passing), len(was & passing), len(failed))
        whose = "it stands" if len(passing) == 1 else "they stand"
        return _evidence(Ruling.UNKNOWN, f"{detail}, but {whose} in the file that the edit changes{uncounted}")
    tests = PassingTests(passing, passing & was, len(failed), uncounted)
    return await judge_execution(case, tests, run.traced(after), run.named_in, run.other)


async def _confirmed(
    lost: frozenset[str], again: TestReport | None, after: TestReport, run: _Runs
) -> tuple[frozenset[str], Evidence]:
    """The lost tests that fail again with the change, and the evidence if none does.

    An intermittent failure that occurs only with the change may be caused by it: neither is proven. A second run that
    got no CPU time proves nothing either; `again` is the second run of the text before.
    """
    later = await run.after(sorted(lost), seed=1)
    unsteady = lost & later.passed
    cut = [each for each in (later, again) if each is not None and (each.starved or each.run is None)]
    left_open = {each for each in lost - unsteady for report in cut if each not in _ended(report)}
    if not left_open:
        detail = f"{plural(len(unsteady), 'test')} had varying results: {test_names(unsteady)}"
        return lost - unsteady, _evidence(Ruling.UNKNOWN, detail)
    why_open = f"but not confirmed by a second run: {cut[0].why_not}"
    asked = _failed(f"{first_failure_text(after, left_open)} (passed before), {why_open}", after, left_open)
    return lost - unsteady - left_open, replace(asked, verdict=Ruling.UNKNOWN)


def _unable(report: TestReport, excuse: Callable[[str], str]) -> dict[str, str]:
    """Why tests and test files could not be run that need a package which could not be installed."""
    failures = [(each.path, each.failure) for each in report.collection]
    failures += [(each.id, each.failure) for each in report.failed() if each.failure is not None]
    reasons = {name: excuse(failure.module) for name, failure in failures}
    return {name: why for name, why in reasons.items() if why}


def _failed_otherwise(report: TestReport, lost: Collection[str], excuse: Callable[[str], str]) -> bool:
    """True if anything but a missing package kept one of the lost tests from passing."""
    if report.outcome in (SuiteOutcome.TIMEOUT, SuiteOutcome.LIMIT, SuiteOutcome.INCOMPLETE):
        return True
    unable = _unable(report, excuse)
    return any(each.path not in unable for each in report.collection) or any(
        each.id in lost and each.id not in unable for each in report.failed()
    )


def _flaky(once: TestReport, again: TestReport) -> frozenset[str]:
    """The tests whose outcome differs when they run again without changes."""
    first, second = _ended(once), _ended(again)
    return frozenset(each for each in first if second.get(each, first[each]) is not first[each])


def _ended(report: TestReport) -> dict[str, bool]:
    """Whether each finished test passed."""
    known = {CaseOutcome.PASSED: True, CaseOutcome.FAILED: False, CaseOutcome.ERROR: False}
    return {each.id: known[each.outcome] for each in report.cases if each.outcome in known}


def _failed(detail: str, after: TestReport, wanted: Collection[str]) -> Evidence:
    output = Attachment.of("failing_tests.txt", "plaintext", failure_output(after, wanted))
    return replace(_evidence(Ruling.FAIL, detail), count=len(wanted), attachments=(output,))


def _broken(report: TestReport) -> bool:
    return report.outcome in (
        SuiteOutcome.ERROR,
        SuiteOutcome.TIMEOUT,
        SuiteOutcome.LIMIT,
        SuiteOutcome.INCOMPLETE,
        SuiteOutcome.RED,
    )


def _evidence(verdict: Ruling, detail: str) -> Evidence:
    return Evidence(Check.TESTS, verdict, detail, trusted=verdict in (Ruling.PASS, Ruling.FAIL))

"""The project's tests, before and after: what passed has to pass, and what the target was to mend too."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.project_tests.find import touching
from stet_ls.engine.judges.runtime import Runtime
from stet_ls.engine.models import Attachment, Check, Evidence, Ruling
from stet_ls.engine.sandbox.runners import report as reports
from stet_ls.engine.sandbox.runners.plan import Suite, TestPlan
from stet_ls.engine.sandbox.runners.report import CaseOutcome, Outcome, TestReport
from stet_ls.engine.sandbox.runners.run import run_tests
from stet_ls.engine.sandbox.spec import Overlay

MENDS = frozenset({"debug", "generate", "task"})
"""Actions after which a test that failed and names the target has to pass."""

_CANNOT = frozenset({Outcome.NO_RUNNER, Outcome.REFUSED, Outcome.NOTHING_RAN})
_LEAST_SECONDS = 2.0
_SHOWN = 3
_MOST_NAMES = 6


async def judge(case: Case) -> Evidence:
    """Runs the tests that touch the target. Trusted: they are the user's and nobody changes them."""
    run = await _runs(case)
    if isinstance(run, Evidence):
        return run
    before, after = await run.before(), await run.after()
    return await _compared(case, before, after, run)


async def _runs(case: Case) -> _Runs | Evidence:
    """What is to be run; evidence that says why nothing is."""
    runtime, path = case.runtime, case.path
    if runtime is None or path is None:
        return _said(Ruling.SKIPPED, "no code was run")
    root = runtime.root_of(path)
    if root is None:
        return _said(Ruling.SKIPPED, "the file lies in no open folder, so no tests were looked for")
    buffers = {buffer.path: buffer.text for buffer in runtime.workspace.buffers}
    tests = await asyncio.to_thread(touching, root, path, case.unit, case.language, buffers)
    if not tests:
        about = f"`{case.unit}`" if case.unit else path.name
        return _said(Ruling.SKIPPED, f"no test of the project touches {about}")
    if runtime.left() < _LEAST_SECONDS:
        return _said(Ruling.UNKNOWN, f"no time was left to run {_count(len(tests), 'test file')}")
    return _Runs(case, runtime, root, tests, buffers)


async def failing(case: Case) -> tuple[tuple[str, str], ...]:
    """The tests that touch the target and fail on the text before: id and what is wrong; none if none could be run."""
    run = await _runs(case)
    if isinstance(run, Evidence):
        return ()
    report = await run.before()
    failed = [each for each in report.failed() if each.failure is not None]
    return tuple((each.id, f"{_line(each.failure)}{_where(each.failure)}") for each in failed if each.failure)


def _where(failure: reports.Failure) -> str:
    """Where it happened, with what the names there held."""
    frame = failure.deepest
    if frame is None:
        return ""
    held = ", ".join(f"{name} = {value}" for name, value in frame.locals[:_MOST_NAMES])
    return f" (in {frame.function}, {frame.path}:{frame.line}{f', with {held}' if held else ''})"


class _Runs:
    """Runs the same tests on the text before and after; what came of the one before is kept for the next candidate."""

    def __init__(
        self, case: Case, runtime: Runtime, root: Path, tests: Sequence[str], buffers: Mapping[Path, str]
    ) -> None:  # fmt: skip
        self._case, self._runtime, self._root, self._tests = case, runtime, root, tuple(tests)
        self._buffers = buffers

    async def before(self) -> TestReport:
        """With the text as the user has it."""
        key = (self._root, self._tests, self._case.before.text)
        known = self._runtime.reports.get(key)
        if known is None:
            known = self._runtime.reports[key] = await self._run(self._case.before.text)
        return known

    async def after(self, select: Sequence[str] = (), seed: int = 0) -> TestReport:
        """With the candidate in place."""
        return await self._run(self._case.after.text, select, seed)

    async def _run(self, text: str, select: Sequence[str] = (), seed: int = 0) -> TestReport:
        assert self._case.path is not None
        texts = {**self._buffers, self._case.path: text}
        inside = {
            path.relative_to(self._root).as_posix(): each.encode("utf-8", "surrogatepass")
            for path, each in texts.items()
            if path.is_relative_to(self._root)
        }
        plan = TestPlan(
            self._case.language,
            tests=self._tests,
            overlay=Overlay(self._root, inside),
            suite=Suite.PROJECT,
            select=tuple(select),
            environment=self._runtime.python if self._case.language == "python" else None,
            seed=seed,
        )
        return await run_tests(self._runtime.sandbox, plan)


async def _compared(case: Case, before: TestReport, after: TestReport, run: _Runs) -> Evidence:
    if after.outcome in _CANNOT and before.outcome is after.outcome:
        help_ = f" ({after.install})" if after.install else ""
        return _said(Ruling.UNKNOWN, f"the project's tests could not be run: {after.detail or after.outcome}{help_}")
    passed = {each.id for each in before.cases if each.outcome is CaseOutcome.PASSED}
    # One that is skipped now, or expected to fail, has nothing more to say: the code may have asked for that itself.
    lost = list(passed - {each.id for each in after.cases if each.outcome is CaseOutcome.PASSED})
    if lost:
        again = await run.after(lost, seed=1)
        flaky = [each.id for each in again.cases if each.outcome is CaseOutcome.PASSED and each.id in lost]
        lost = [identifier for identifier in lost if identifier not in flaky]
        if not lost:
            return _said(Ruling.UNKNOWN, f"{_count(len(flaky), 'test')} ended otherwise each time: {_names(flaky)}")
    if lost or (not passed and _broken(after) and not _broken(before)):
        return _failed(f"{_why(after, lost)} (passed before)", after, lost)
    failed = [each.id for each in after.failed()]
    mending = case.action in MENDS and any(each.id in failed for each in before.failed())
    if mending and not any(each.id not in failed for each in before.failed()):
        return _failed(f"{_why(after, failed)} (as before)", after, failed)
    if not passed and not any(each.outcome is CaseOutcome.PASSED for each in after.cases):
        return _said(Ruling.UNKNOWN, f"no test passed before or after: {after.detail or after.outcome}")
    passing = sum(each.outcome is CaseOutcome.PASSED for each in after.cases)
    return replace(_said(Ruling.PASS, _good(before, after)), count=passing)


def _failed(detail: str, after: TestReport, wanted: Sequence[str]) -> Evidence:
    output = Attachment.of("failing_tests.txt", "plaintext", _output(after, wanted))
    return replace(_said(Ruling.FAIL, detail), count=len(wanted), attachments=(output,))


def _output(report: TestReport, wanted: Sequence[str]) -> str:
    """What the failing tests said, as their runner tells it: the failure, where it came from, what was printed."""
    told = [f"{error.path}\n{_shown(error.failure)}" for error in report.collection]
    for each in report.failed():
        if each.id in wanted:
            printed = f"\nprinted:\n{each.stdout.rstrip()}\n" if each.stdout.strip() else ""
            told.append(f"{each.id}: {each.outcome}\n{_shown(each.failure) if each.failure else ''}{printed}")
    return "\n".join(told or [f"{report.detail or report.outcome}\n"])


def _shown(failure: reports.Failure) -> str:
    frames = [f"  {frame.path}:{frame.line} in {frame.function}\n" for frame in failure.frames]
    compared = failure.comparison
    said = f"{compared.left}\n  {compared.operator}\n{compared.right}\n" if compared is not None else ""
    return f"{failure.type}: {failure.message.rstrip()}\n{said}{''.join(frames)}"


def _broken(report: TestReport) -> bool:
    return report.outcome in (Outcome.ERROR, Outcome.TIMEOUT, Outcome.LIMIT, Outcome.INCOMPLETE, Outcome.RED)


def _good(before: TestReport, after: TestReport) -> str:
    passing = [each.id for each in after.cases if each.outcome is CaseOutcome.PASSED]
    mended = [each.id for each in before.failed() if each.id in passing]
    still = len(after.failed())
    said = f"{_count(len(passing), 'test')} {'passes' if len(passing) == 1 else 'pass'}"
    if mended:
        said += f", {len(mended)} of them failed before"
    return f"{said}; {still} fail as before" if still else said


def _why(report: TestReport, wanted: Sequence[str]) -> str:
    """The first failure in words, and how many there are."""
    for error in report.collection:
        return f"{error.path}: {_line(error.failure)}"
    failing = [each for each in report.failed() if each.id in wanted]
    if not failing:
        gone = f"{_names(wanted)} did not run: " if wanted else ""
        return f"{gone}{report.detail or report.outcome}"
    first = failing[0]
    said = f"{first.id.rpartition('::')[2]} fails: {_line(first.failure) if first.failure else first.outcome}"
    return said if len(failing) == 1 else f"{said} (and {len(failing) - 1} more)"


def _line(failure: reports.Failure) -> str:
    compared = failure.comparison
    if compared is not None:
        return f"{compared.left} {compared.operator} {compared.right} is false"
    return f"{failure.type}: {failure.said}" if failure.said else failure.type


def _names(identifiers: Sequence[str]) -> str:
    shown = ", ".join(sorted(each.rpartition("::")[2] for each in identifiers)[:_SHOWN])
    return shown if len(identifiers) <= _SHOWN else f"{shown} and {len(identifiers) - _SHOWN} more"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _said(verdict: Ruling, detail: str) -> Evidence:
    return Evidence(Check.TESTS, verdict, detail, trusted=verdict in (Ruling.PASS, Ruling.FAIL))

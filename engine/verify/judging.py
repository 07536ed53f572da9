"""Judges the units of a change: what needs no run, the project's tests, then the comparison of behavior."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import AsyncExitStack, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path

from stet_ls.engine.api.actions import CHANGED_CODE
from stet_ls.engine.api.evidence import Check, Ruling
from stet_ls.engine.api.request import Buffer, Request, Workspace
from stet_ls.engine.execution.environment_provisioning import JobResources
from stet_ls.engine.execution.language_table import for_language
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.execution.runtime_provider import RuntimeProvider
from stet_ls.engine.plurals import first_names, plural, verb
from stet_ls.engine.runners.captured_calls import CapturedCalls
from stet_ls.engine.runners.report import TestReport
from stet_ls.engine.storage.setting_files import PROJECT_FILE
from stet_ls.engine.verify.changes.broken_calls import broken_calls
from stet_ls.engine.verify.changes.change import Change, ChangedFile, is_data_of_tests, is_of_tests
from stet_ls.engine.verify.changes.intent import ChangeIntent, IntentKind
from stet_ls.engine.verify.changes.prose import is_prose
from stet_ls.engine.verify.changes.reached_files import ReachedFiles
from stet_ls.engine.verify.changes.risk import by_risk, units_by_risk
from stet_ls.engine.verify.changes.units import Pairing, UnitChange, UnitChangeKind, is_code, reported
from stet_ls.engine.verify.documented_examples import ExampleRuns, has_examples, run_examples
from stet_ls.engine.verify.judged_files import (
    case_of,
    compare_unit,
    former_files,
    is_broken,
    is_same_code,
    lint_results,
    static_checks,
    type_results,
)
from stet_ls.engine.verify.lost_names import lost_values, renamed_module
from stet_ls.engine.verify.options import VerifyOptions
from stet_ls.engine.verify.project_tests import outcome_table
from stet_ls.engine.verify.project_tests.edited_tests import edits_of, with_lines
from stet_ls.engine.verify.project_tests.executed_files import is_change_executed
from stet_ls.engine.verify.project_tests.fixing_tests import FixingTests, differs
from stet_ls.engine.verify.project_tests.proven_units import tests_of_unit
from stet_ls.engine.verify.project_tests.runs_of_tests import SuiteRuns, TestRuns
from stet_ls.engine.verify.project_tests.selected_tests import SelectedTests, selected_tests
from stet_ls.engine.verify.project_tests.unlisted_setup import unlisted_setup
from stet_ls.engine.verify.project_tests.weak_new_tests import weak_new_tests
from stet_ls.engine.verify.project_tests.weakened_tests import weakened_tests
from stet_ls.engine.verify.report import CheckResult, Report, TestResult, UnitReport
from stet_ls.engine.verify.stored.kept_runs import KeptRuns
from stet_ls.engine.verify.stored.result_cache import VerifyCache
from stet_ls.engine.verify.timed_units import timed_results, timing_of
from stet_ls.validators.languages import family
from stet_ls.validators.source import Source

_ORDER = [each.value for each in Check]
_RUNNING = 0.4
"""The share of the budget that is kept for running code."""
_SELECTING = 0.3
"""The share of the time left for choosing tests."""
_MOST_TYPED, _MOST_TIMED = 5, 8
"""Files whose types are checked, and units whose speed is measured."""
_AT_ONCE = max(2, min(4, os.cpu_count() or 1))
"""Runs at the same time."""


@dataclass
class VerifyRun:
    """The results so far. `units` are those to judge, `every` all of the change."""

    change: Change
    intent: ChangeIntent
    options: VerifyOptions
    units: Sequence[UnitChange]
    every: Sequence[UnitChange]
    runtimes: RuntimeProvider
    until: float
    held: AsyncExitStack
    cache: VerifyCache
    of_files: dict[str, tuple[CheckResult, ...]] = field(default_factory=dict)
    of_units: dict[UnitChange, list[CheckResult]] = field(default_factory=dict)
    test_rows: list[TestResult] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unjudged: list[str] = field(default_factory=list)
    others: list[UnitReport] = field(default_factory=list)
    fixing: FixingTests = field(default_factory=FixingTests)
    examples: dict[UnitChange, ExampleRuns] = field(default_factory=dict)
    refused: bool = False
    partial: bool = False
    is_final: bool = True
    _slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_AT_ONCE))

    async def static(self, unread: Collection[ChangedFile]) -> None:
        """What needs no run, for every file, the riskiest first; `unread` ones have no units."""
        for path, why in self.change.skipped:
            self._skip(path, why)
        left = [each for each in by_risk(self.change.files) if each not in unread]
        late = [*unread]
        until = self.until - _RUNNING * self.options.budget
        for file in left:
            if time.monotonic() > until:
                late.append(file)
                continue
            if None in (file.text(file.before), file.text(file.after)):
                self._skip(file.path, "not UTF-8 text")
                continue
            if users := renamed_module(file):
                self._skip(file.path, users)
            case = case_of(self.change, file, self.options.tools, None)
            checks = await static_checks(case, file, self.intent)
            if self.options.runs_code and is_code(file) and file.after is not None and not is_broken(checks):
                checks = (*checks, *([] if is_same_code(checks) else [await lint_results(case)]))
            self.of_files[file.path] = checks
            if is_code(file):
                continue
            if any(each.refutes or each.noted for each in checks):
                line = next(each.line for each in checks if each.refutes or each.noted)
                unit = UnitChange(file, "", max(line, 1), UnitChangeKind.CHANGED, Pairing.NAME)
                self.others.append(UnitReport(reported(unit), checks))
            elif not is_same_code(checks):
                self._skip(file.path, "it holds settings of Stet" if file.path == PROJECT_FILE else "not code")
        self._leave(late, unread)

    def _skip(self, path: str, why: str) -> None:
        """Names a file that no judge can judge. The change is not ok then, unless people alone read the file, or it
        belongs to the tests that run.
        """
        self.notes.append(f"{path} is not judged: {why}")
        if not (is_prose(path) or is_data_of_tests(path)):
            self.unjudged.append(path)

    def _leave(self, late: Sequence[ChangedFile], unread: Collection[ChangedFile]) -> None:
        """Names what there was no time for: it is unproven."""
        self.partial |= bool(late)
        result = CheckResult.late(Check.SYNTAX)
        self.of_files |= {each.path: (result,) for each in late}
        self.others += [
            UnitReport(reported(UnitChange(each, "", 1, UnitChangeKind.CHANGED, Pairing.NONE)), (result,))
            for each in late
            if each in unread or not is_code(each)
        ]
        if late:
            self.notes.append(
                f"{plural(len(late), 'file')} not judged for lack of time: {first_names(each.path for each in late)}"
            )

    async def run(self) -> None:
        """The project's tests on both trees and the comparison of units, for each family of languages."""
        files = [each for each in by_risk(self.change.files) if is_code(each) and self._is_parsed(each)]
        moving = [each for each in files if not is_broken(self.of_files[each.path])]
        moving = [each for each in moving if not is_same_code(self.of_files[each.path])]
        while moving:
            alike = family(moving[0].language)
            await self._run_family([each for each in moving if each.language in alike])
            moving = [each for each in moving if each.language not in alike]
        for file in files:  # the examples of documentation run even if nothing else changed
            if is_same_code(self.of_files[file.path]) and has_examples(file.text(file.after) or ""):
                runtime = await self._runtime(file)
                await self._examples([file], await runtime.fit_language(file.language, file.text(file.after) or ""))

    def _is_parsed(self, file: ChangedFile) -> bool:
        return not all(each.out_of_time for each in self.of_files[file.path])

    async def _run_family(self, files: Sequence[ChangedFile]) -> None:
        """Comparisons begin once the calls that the old tests make are known."""
        language = files[0].language
        now = time.monotonic()
        until = now + _SELECTING * max(self.until - now, 0)
        selected = await asyncio.to_thread(selected_tests, self.change, language, files, until)
        runtime = await self._runtime(files[0])
        texts = [each.text(data) or "" for each in files for data in (each.before, each.after)]
        runtime = await runtime.fit_language(language, *texts, *selected.needs)
        runtime = replace(runtime, until=min(runtime.until, self.until))
        kept = await self._kept(language, runtime, selected, files)
        suite = SuiteRuns(self.change, language, runtime, files, selected, self._slots, kept)
        self.options.on_progress("running tests on the old and the new code")
        captured = asyncio.Event()

        def old_is_known(report: TestReport | None) -> None:
            for file in files if report is not None and for_language(language).captures_calls else ():
                if file.before is not None and file.was == file.path and report is not None:
                    calls = report.captured.get(file.path, CapturedCalls())
                    runtime.captured[self.change.root / file.path, file.text(file.before) or ""] = calls
            captured.set()

        async def tests() -> None:
            try:
                await self._examples(files, runtime)
                await self._judge_tests(await suite.all(old_is_known), suite, files)
            finally:
                captured.set()

        async def comparisons() -> None:
            await captured.wait()
            paths = {each.path for each in files}
            own = [each for each in self.units if each.path in paths and not is_of_tests(each.path)]
            former = await asyncio.to_thread(former_files, self.change, language)
            await asyncio.gather(*(self._compare(each, runtime, kept, former) for each in units_by_risk(own)))
            if self.intent.kind is IntentKind.PERF:
                await self._time(own, runtime, former)

        async with asyncio.TaskGroup() as all_three:
            all_three.create_task(tests())
            all_three.create_task(comparisons())
            all_three.create_task(self._types(files, runtime))
        if self.intent.kind is IntentKind.FIX:
            await self._others_are_equal(suite)

    async def _others_are_equal(self, suite: SuiteRuns) -> None:
        """What behaves differently is a part of the fix only if a test or an example of the fix shows it."""
        shown = {unit for unit, runs in self.examples.items() if runs.fixed}
        product = [each for each in self.every if not is_of_tests(each.path)]
        for unit, found in self.of_units.items() if shown or self.fixing.ids else ():
            if unit in shown or unit.file not in suite.files or not differs(found):
                continue
            is_alone = product == [unit]
            result = await self.fixing.unshown(unit, None if is_alone else suite.on_text)
            self.partial |= result is not None and result.out_of_time
            self.of_units[unit] = [*found, result] if result is not None else found

    async def _examples(self, files: Sequence[ChangedFile], runtime: Runtime) -> None:
        """The examples of the documentation, old against new."""
        own = {unit: case_of(self.change, unit.file, self.options.tools, runtime) for unit in self.units
               if unit.file in files}  # fmt: skip
        for unit, runs in (await run_examples(own)).items():
            self.examples[unit] = runs
            self.of_units.setdefault(unit, []).append(runs.result(self.intent))

    async def _types(self, files: Sequence[ChangedFile], runtime: Runtime) -> None:
        """New type errors, the riskiest files first. Tests run meanwhile: they leave one of two processors idle."""
        for file in [each for each in files if each.after is not None][:_MOST_TYPED]:
            case = case_of(self.change, file, self.options.tools, runtime)
            result = await type_results(case)
            self.of_files[file.path] = (*self.of_files[file.path], result)

    async def _time(self, units: Sequence[UnitChange], runtime: Runtime, former: Mapping[Path, str]) -> None:
        """Old against new speed of the changed units, one at a time."""
        changed = [each for each in units if each.change is UnitChangeKind.CHANGED and each.name]
        measured = {
            each: await timing_of(case_of(self.change, each.file, self.options.tools, runtime, former), each)
            for each in units_by_risk(changed)[:_MOST_TIMED]
        }
        for unit, result in timed_results(measured, self.intent).items():
            self.of_units.setdefault(unit, []).append(result)

    async def _kept(
        self, language: str, runtime: Runtime, selected: SelectedTests, files: Sequence[ChangedFile]
    ) -> KeptRuns:
        reached = await asyncio.to_thread(ReachedFiles, self.change, selected.project, files)
        own = "" if not self.cache.is_on else await self.runtimes.identity(self.change.root, language)
        if own and runtime.python is not None:
            own += runtime.python.key
        self.is_final &= not runtime.missing_packages.modules
        return KeptRuns(self.cache, own if not runtime.missing_packages.modules else "", reached)

    async def _judge_tests(self, runs: TestRuns, suite: SuiteRuns, files: Sequence[ChangedFile]) -> None:
        self.refused |= runs.refused
        edits = await asyncio.to_thread(edits_of, files, runs.language)
        removed = {each.name.rpartition(".")[2] for each in self.every
                   if each.change is UnitChangeKind.REMOVED and not is_of_tests(each.path)}  # fmt: skip
        renamed = {each.was: each.path for each in files if each.was != each.path and is_of_tests(each.path)}
        rows = list(outcome_table.results(runs, edits, self.intent, removed, renamed))
        is_shown = any(each.fixed for each in self.examples.values())
        rows = [*outcome_table.with_sole_expectations(rows, self.intent, is_shown=is_shown)]
        rows = await asyncio.to_thread(with_lines, rows, files, suite.selected.texts)
        self.test_rows += rows
        self.fixing = FixingTests.among(rows, runs)
        self.is_final &= not runs.flaky and (not runs.problem or not runs.selected.tests)
        self.notes += outcome_table.notes(runs)
        for path in await asyncio.to_thread(unlisted_setup, self.change, suite.selected.tests):
            self.notes.append(f"{path} takes part in the tests and is not judged: git ignores it")
            self.unjudged.append(path)
        if runs.left_out:
            self.partial = True
            self.notes.append(runs.left_out)
        is_worse = any(each.refutes for each in rows)
        fixed = bool(self.fixing.ids) or is_shown

        async def judge(file: ChangedFile) -> None:
            own = [each for each in self.units if each.file is file]
            if is_of_tests(file.path):
                self._of_test_file(runs, own, fixed=fixed)
            elif own:
                case = case_of(self.change, file, self.options.tools, suite.runtime)
                result = self._fixing(await is_change_executed(case, file, suite, runs, is_worse=is_worse), fixed=fixed)
                self.partial |= result.out_of_time
                texts = [*suite.selected.texts.values()]
                for each in own:
                    checked = await tests_of_unit(case, each, result, files, texts, self.intent)
                    self.of_units.setdefault(each, []).append(checked)

        await asyncio.gather(*map(judge, files))
        await self._weakened(runs, suite, files)

    async def _weakened(self, runs: TestRuns, suite: SuiteRuns, files: Sequence[ChangedFile]) -> None:
        """Edited tests that notice less prove nothing; where the claim is that nothing changes, they refute it. New
        tests that notice next to nothing prove nothing either.
        """
        own = [each for each in files if any(unit.file is each for unit in self.units)]
        found = await weakened_tests(self.change, own, suite, runs, self._slots)
        blames = self.intent.is_stated and self.intent.kind in (IntentKind.REFACTOR, IntentKind.PERF, IntentKind.TEST)
        for unit in self.units:
            trial = next(
                (found[path] for path, name in unit.names if path in found and found[path].concerns(name)), None
            )
            if trial is None:
                continue
            result = trial.result(blames=blames, is_removed=unit.change is UnitChangeKind.REMOVED)
            self.partial |= result.out_of_time
            self.of_units.setdefault(unit, []).append(result)
        of_tests = self.intent.kind is IntentKind.TEST
        for each in await weak_new_tests(self.change, self.units, own, suite, runs, self._slots, of_tests=of_tests):
            for unit in filter(each.concerns, self.units):
                noted = is_of_tests(unit.path)
                result = CheckResult(Check.MUTANTS.value, Ruling.UNKNOWN, str(each), noted=noted, opens=True)
                self.of_units.setdefault(unit, []).append(result)

    def _of_test_file(self, runs: TestRuns, units: Sequence[UnitChange], *, fixed: bool) -> None:
        """A test is proven by running: it passes on the new code."""
        for unit in units:
            prefix = f"{unit.path}::{unit.name.replace('.', '::')}" if unit.name else f"{unit.path}::"
            own = {each: how for each, how in runs.new_on_new.items() if each.startswith(prefix)}
            passed = sum(how == "passed" for how in own.values())
            good = bool(passed) and all(how in ("passed", "skipped", "xfailed") for how in own.values())
            detail = f"{plural(passed, 'test')} {verb('pass', passed)}" if own else runs.problem or "no test of it ran"
            status = Ruling.PASS if good else Ruling.UNKNOWN if own else Ruling.SKIPPED
            result = CheckResult(Check.TESTS.value, status, detail, proves=good)
            self.of_units.setdefault(unit, []).append(self._fixing(result, fixed=fixed))

    def _fixing(self, result: CheckResult, *, fixed: bool) -> CheckResult:
        """A fix without a test that shows it stays unproven."""
        if self.intent.kind is not IntentKind.FIX or fixed or result.status is Ruling.SKIPPED:
            return result
        detail = f"no test fails on the old code and passes now; {result.detail}"
        return replace(result, status=Ruling.UNKNOWN, detail=detail, noted=True, proves=False)

    async def _compare(self, unit: UnitChange, runtime: Runtime, kept: KeptRuns, former: Mapping[Path, str]) -> None:
        """Old against new behavior of a unit, while there is time."""
        if unit.change is not UnitChangeKind.CHANGED or not unit.name:
            case = case_of(self.change, unit.file, self.options.tools, None)
            result = await compare_unit(case, unit, self.intent, self.change.files)
        else:
            async with self._slots:
                result = await self._compared(unit, runtime, kept, former)
        self.partial |= result.out_of_time
        self.of_units.setdefault(unit, []).append(result)
        if not unit.name and (lost := await asyncio.to_thread(lost_values, unit.file)):
            self.of_units[unit].append(lost)
        if unit.change is UnitChangeKind.CHANGED and unit.is_public:
            before, after = (unit.file.text(data) or "" for data in (unit.file.before, unit.file.after))
            if why := await asyncio.to_thread(broken_calls, before, after, unit.name):
                detail = f"{why}; check its callers"
                self.of_units[unit].append(
                    CheckResult(Check.SIGNATURE.value, Ruling.UNKNOWN, detail, noted=True, opens=True)
                )

    async def _compared(
        self, unit: UnitChange, runtime: Runtime, kept: KeptRuns, former: Mapping[Path, str]
    ) -> CheckResult:  # fmt: skip
        if runtime.left() <= 0:
            return CheckResult.late(Check.DIFFERENTIAL)
        self.options.on_progress(f"comparing {unit.label}")
        case = case_of(self.change, unit.file, self.options.tools, runtime, former)
        others = [each for each in self.change.files if each is not unit.file and is_code(each)]
        parts = self.intent.kind.value, self.intent.is_stated, [each.path for each in others], sorted(former.items())
        return await kept.comparison(case, unit, parts, lambda: compare_unit(case, unit, self.intent, others))

    async def _runtime(self, file: ChangedFile) -> Runtime:
        helper = JobResources(self.held, lambda *_: nullcontext(), self.notes.append)
        over = {self.change.root / path: data for path, data in self.change.new.items()}
        texts = {path: data.decode("utf-8", "replace") for path, data in over.items() if b"\0" not in data}
        buffers = tuple(Buffer(path, 1, text) for path, text in texts.items())
        request = Request(
            CHANGED_CODE, file.language, Source(file.text(file.after) or ""), path=self.change.root / file.path,
            workspace=Workspace((self.change.root,), buffers),
        )  # fmt: skip
        return replace(await self.runtimes.runtime(request, helper), until=self.until)

    def report(self, seconds: float) -> Report:
        """Everything together. A file's own results belong to each of its units; those of runs have a fixed order."""
        ran = {unit: sorted(found, key=lambda each: _ORDER.index(each.check)) for unit, found in self.of_units.items()}
        others = self.others if self.options.shard[0] == 1 else ()
        own = (
            UnitReport(reported(unit), (*self.of_files.get(unit.path, ()), *ran.get(unit, ()))) for unit in self.units
        )
        return Report(
            self.intent, self.change.base.name, self.change.head.name, (*others, *own), tuple(self.test_rows),
            tuple(dict.fromkeys(self.notes)), tuple(self.unjudged), self.partial, self.refused, seconds,
        )  # fmt: skip

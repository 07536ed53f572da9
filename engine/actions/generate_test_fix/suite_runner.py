"""Runs the tests of one text: as one file, or as one program per test if the runner only runs programs."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from stet_ls.engine.actions.generate_test_fix.loop_plan import LoopPlan
from stet_ls.engine.actions.generated_tests.suite_plans import SuitePlan
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.runners.language_table import for_language
from stet_ls.engine.runners.plan import TestPlan
from stet_ls.engine.runners.report import CaseFailure, CollectionError, TestReport
from stet_ls.engine.runners.run_tests import run_tests

_MOST_SECONDS = 10.0
"""Time limit of a run, if nothing has to be compiled."""


@dataclass(frozen=True, slots=True)
class SuiteRunner:
    """The tests `code`, ready to run; reports name the test file."""

    plan: LoopPlan
    runtime: Runtime
    way: SuitePlan
    code: str

    @property
    def seconds(self) -> float:
        """The rest of the job's time."""
        return self.runtime.left()

    async def run(self, tests: Sequence[str], seed: int = 0) -> TestReport:
        """One run of these tests, by their ids after the file name."""
        limits = for_language(self.plan.language).limits
        seconds = min(limits.seconds if limits is not None else _MOST_SECONDS, self.seconds)
        wanted = self.way.running(self.code, *tests, seconds=seconds)
        if limits is not None:
            wanted = replace(wanted, limits=replace(limits, seconds=max(1.0, seconds)))
        suite = self.plan.loop_language.suite or wanted.suite
        wanted = replace(wanted, framework=self.plan.framework, seed=seed, suite=suite)
        programs = self._programs(tests)
        if programs:
            wanted = self._of_programs(wanted, dict(programs.values()))
        report = await run_tests(self.runtime.sandbox, wanted)
        return _in_suite_terms(report, {path: (self.way.tests, test) for test, (path, _) in programs.items()})

    def _programs(self, tests: Sequence[str]) -> Mapping[str, tuple[str, str]]:
        """The path and the text of the program of each test."""
        make = self.plan.loop_language.program
        if make is None:
            return {}
        file = PurePosixPath(self.way.tests)
        made = {test: make(file, self.code, test, number) for number, test in enumerate(tests, 1)}
        return {test: (str(path), text) for test, (path, text) in made.items()}

    def _of_programs(self, plan: TestPlan, programs: Mapping[str, str]) -> TestPlan:
        """The plan that builds the programs, without the file of tests if the programs contain all of its text."""
        texts = {path: text.encode("utf-8", "surrogatepass") for path, text in programs.items()}
        whole = all(self.code in text for text in programs.values())
        files = {path: data for path, data in plan.files.items() if path != self.way.tests or not whole}
        return replace(plan, tests=tuple(texts), files={**files, **texts}, select=())


def _in_suite_terms(report: TestReport, programs: Mapping[str, tuple[str, str]]) -> TestReport:
    """The report in terms of the file of tests, with each build error once, and normalized paths."""

    def path(reported: str) -> str:
        plain = posixpath.normpath(reported) if reported and "<" not in reported else reported
        return programs[plain][0] if plain in programs else plain

    def failure(case: CaseFailure) -> CaseFailure:
        place = case.place
        frames = tuple(replace(frame, path=path(frame.path)) for frame in case.frames)
        return replace(case, frames=frames, place=(path(place[0]), *place[1:]) if place is not None else None)

    def identifier(test: str) -> str:
        return "::".join(programs[test]) if test in programs else test

    cases = tuple(
        replace(each, id=identifier(each.id), failure=failure(each.failure) if each.failure is not None else None)
        for each in report.cases
    )
    errors = dict.fromkeys(CollectionError(path(each.path), failure(each.failure)) for each in report.collection)
    return replace(report, cases=cases, running=tuple(map(identifier, report.running)), collection=tuple(errors))

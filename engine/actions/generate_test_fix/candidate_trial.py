"""One run of the tests on one candidate, with a diagnosis of each failure."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace

from stet_ls.engine.actions.generate_test_fix.loop_plan import LoopPlan
from stet_ls.engine.actions.generate_test_fix.suite_runner import SuiteRunner
from stet_ls.engine.actions.generate_test_fix.suite_writer import GeneratedSuite
from stet_ls.engine.actions.generated_tests.flakiness import TIMES, name_without_parameters, outcome
from stet_ls.engine.actions.generated_tests.suite_plans import SuitePlan
from stet_ls.engine.diagnosis.diagnose import diagnose
from stet_ls.engine.diagnosis.diagnosis import Cause, CodeFacts, Diagnosis
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.job.job import Job
from stet_ls.engine.runners.report import CaseOutcome, SuiteOutcome, TestReport
from stet_ls.validators.source import Source

_LEAST_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class CandidateTrial:
    """The result of one run.

    `passed` are the tests that passed, by their ids after the file name; `lacking` says why packages are missing.
    `problem` is the reason if nothing could be run; then there are no diagnoses.
    """

    report: TestReport
    diagnoses: tuple[Diagnosis, ...] = ()
    passed: frozenset[str] = frozenset()
    problem: str = ""
    lacking: str = ""
    runner: SuiteRunner | None = field(default=None, repr=False)

    def of(self, *causes: Cause) -> tuple[Diagnosis, ...]:
        """The diagnoses with these causes."""
        return tuple(each for each in self.diagnoses if each.cause in causes)

    async def steady(self) -> frozenset[str]:
        """The passed tests that pass twice more with other hash seeds; all of them if no time is left for that."""
        good = self.passed
        for seed in range(1, TIMES):
            if self.runner is None or not good or self.runner.seconds < _LEAST_SECONDS:
                break
            report = await self.runner.run(sorted(good), seed)
            if report.starved:
                break
            good = frozenset(test for test in good if outcome(report, test) is CaseOutcome.PASSED)
        return good

    def __str__(self) -> str:
        """For display: "2 pass, 1 logic"."""
        causes = Counter(each.cause.value for each in self.diagnoses)
        parts = [f"{len(self.passed)} pass", *(f"{number} {cause}" for cause, number in sorted(causes.items()))]
        return self.problem or ", ".join(parts)


async def run(job: Job, plan: LoopPlan, suite: GeneratedSuite, text: str, excluded: Collection[str]) -> CandidateTrial:
    """Runs the tests that are not in `excluded` on the candidate `text`, with the packages that both import."""
    code = plan.loop_language.without(suite.code, excluded)
    ids = tuple(test for test in suite.tests if test not in excluded)
    runtime = await job.runtime(text, code)
    assert runtime is not None, "a plan is made for a runtime alone"
    way = plan.way(runtime, text)
    about = await asyncio.to_thread(_about, plan, runtime, way, text)
    nothing = TestReport("", SuiteOutcome.NOTHING_RAN)
    if not ids:
        return CandidateTrial(nothing)
    runner = SuiteRunner(plan, runtime, way, code)
    if runner.seconds < _LEAST_SECONDS:
        return CandidateTrial(nothing, problem="the job is out of time")
    report = await runner.run(ids)
    if report.inconclusive:
        return CandidateTrial(report, problem=report.why_not)
    passed = frozenset(test for test in ids if outcome(report, test) is CaseOutcome.PASSED)
    code_of = Source(text)
    found = tuple(_of_the_user(_of_the_tests(each, code_of, plan), code_of, plan) for each in diagnose(report, about))
    problem = "" if found or passed else report.detail or "no test ran"
    return CandidateTrial(report, found, passed, problem, runtime.missing_packages.why, runner)


def _about(plan: LoopPlan, runtime: Runtime, way: SuitePlan, text: str) -> CodeFacts:
    """The request is the specification; the tests are not trusted."""
    modules = frozenset({plan.about.path.stem, way.target.partition("/")[0].partition(".")[0]})
    return plan.loop_language.facts(plan.request, plan.unit, runtime, {way.target: text}, modules)


def _of_the_tests(each: Diagnosis, code: Source, plan: LoopPlan) -> Diagnosis:
    """Blames a missing package that only the tests import on the tests, not the environment."""
    fix = each.fix
    if each.cause is not Cause.ENVIRONMENT or fix is None or not fix.shown(code, code, plan.language):
        return each
    sentence = f"the tests need it: {each.sentence}"
    return replace(each, cause=Cause.TEST, kind="test.package", fix=None, sentence=sentence)


def _of_the_user(each: Diagnosis, code: Source, plan: LoopPlan) -> Diagnosis:
    """Blames a compiler error in a line that is not new on the environment: the file needs other files."""
    place = each.symptom.failure.place
    if each.kind != "logic.syntax" or place is None:
        return each
    lines = code.text.splitlines()
    line = lines[place[1] - 1].strip() if 0 < place[1] <= len(lines) else ""
    if not line or line not in map(str.strip, plan.before.splitlines()):
        return each
    sentence = f"the file does not compile alone: {each.sentence}"
    return replace(each, cause=Cause.ENVIRONMENT, kind="environment.project", sentence=sentence, fix=None)


def tests_of(diagnoses: Iterable[Diagnosis]) -> frozenset[str]:
    """The tests that the diagnoses are about, by their ids after the file name."""
    return frozenset(name_without_parameters(each.symptom.test) for each in diagnoses if each.symptom.test)

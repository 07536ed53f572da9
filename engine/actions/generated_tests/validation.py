"""Validates new tests: runs each test of a reply, keeps the good ones, and reports on the others.

collects? → passes three times? → what caused the failures? → covers or detects anything new? → the whole file
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Sequence
from dataclasses import replace

from stet_ls.engine.actions.generated_tests import mutant_trial
from stet_ls.engine.actions.generated_tests.candidate_tests import CandidateTests
from stet_ls.engine.actions.generated_tests.flakiness import (
    FlakinessResult,
    name_without_parameters,
    outcome,
    run_three_times,
)
from stet_ls.engine.actions.generated_tests.insertion import insert_tests
from stet_ls.engine.actions.generated_tests.languages.language_table import for_language
from stet_ls.engine.actions.generated_tests.location import SuiteFile
from stet_ls.engine.actions.generated_tests.mutants import Mutant
from stet_ls.engine.actions.generated_tests.suite_plans import SuitePlan, suite_plan
from stet_ls.engine.actions.generated_tests.suite_split import owner_at, tests_in
from stet_ls.engine.actions.generated_tests.validation_result import (
    ValidationResult,
    detected_mutants,
    result_not_run,
    result_of_kept,
    result_without_tests,
    unless_forged,
)
from stet_ls.engine.actions.generated_tests.whole_trial import try_on_whole
from stet_ls.engine.api.budget import Budget
from stet_ls.engine.api.evidence import Check, Evidence, Ruling
from stet_ls.engine.api.request import Request, Target
from stet_ls.engine.diagnosis.code_facts import code_facts
from stet_ls.engine.diagnosis.diagnose import diagnose
from stet_ls.engine.diagnosis.diagnosis import Cause, CodeFacts
from stet_ls.engine.errors import UsageError
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.job.job import Job
from stet_ls.engine.plurals import plural, verb
from stet_ls.engine.runners.plan import TestPlan
from stet_ls.engine.runners.report import CaseOutcome, FrameOrigin, SuiteOutcome, TestReport
from stet_ls.engine.runners.run_tests import run_tests
from stet_ls.validators.source import Source

_TRIES = 4
"""The most runs until the tests collect and finish; each removes the tests that prevented it."""
_MOST_KNOWN, _MOST_WHOLE = 40, 12
"""Tests of a file that count with new ones, and mutants where each takes a run of the whole file."""
_LEAST_SECONDS = 3.0


async def validate(job: Job, place: SuiteFile, code: str, target: Target) -> ValidationResult:
    """Runs the tests of `code`, already adapted to `place`, and keeps the good ones. Cancelling ends all processes."""
    request = job.request
    runtime = await job.runtime(request.source.text, code)
    text = await asyncio.to_thread(insert_tests, place, code, request, job.tools)
    if runtime is None or request.path is None:
        quick = request.budget is Budget.QUICK
        why = "the budget `quick` runs none" if quick else "code may not run"
        return result_not_run(text, code, why, Ruling.SKIPPED)
    if runtime.lacks_interpreter(request.language):
        why = runtime.why_no_python or "no Python to run them; set `sandbox.python`"
        return result_not_run(text, code, why, Ruling.SKIPPED)
    way = suite_plan(runtime, request.language, request.path, request.source.text, place.path)
    if not for_language(request.language).splits:
        make, source = for_language(request.language).mutants, request.source.text
        own = source, request.language, target.name, _MOST_WHOLE
        mutants = await asyncio.to_thread(make, *own, None) if make else None
        return await _whole(runtime, way, text, code, mutants)
    if not tests_in(code):
        return ValidationResult(text, code, 0, (), problem="the reply contains no test that pytest collects")
    about = await asyncio.to_thread(_about, request, target, runtime, way)
    left = CandidateTests(job, runtime, place, way, about, code)
    first = await _first(left)
    if isinstance(first, ValidationResult):
        return first
    if not left.ids:
        return result_without_tests(left, "")
    ran = await run_three_times(runtime.sandbox, way.running(left.joined().text, *left.ids), first, left.ids)
    if ran.starved:
        return result_not_run(left.joined(), left.code, ran.starved[0].why_not, Ruling.UNKNOWN)
    _sort(left, ran)
    return unless_forged(await _measured(left, target), first.signs)


async def _first(left: CandidateTests) -> TestReport | ValidationResult:
    """A report in which all tests were collected and finished; the final result if there is no such report."""
    for _ in range(_TRIES):
        if not left.ids:
            return TestReport("", SuiteOutcome.NOTHING_RAN)
        seconds = left.runtime.left()
        text = left.joined()
        if seconds < _LEAST_SECONDS:
            return result_not_run(text, left.code, "the job is out of time", Ruling.UNKNOWN)
        # Half of the time for tests that may not finish: the others still have to run.
        plan = left.way.running(text.text, *left.ids, seconds=min(10.0, max(_LEAST_SECONDS, seconds / 2)))
        plan = replace(plan, until=time.monotonic() + seconds / 2)
        report = await run_tests(left.runtime.sandbox, plan)
        if report.inconclusive:
            return result_not_run(text, left.code, report.why_not, Ruling.UNKNOWN if report.starved else Ruling.SKIPPED)
        ended = report.outcome not in (SuiteOutcome.TIMEOUT, SuiteOutcome.LIMIT)
        if ended and not report.collection and not report.running:
            return report
        blamed = _blamed(left, report, text.text)
        if isinstance(blamed, str):
            return result_not_run(text, left.code, blamed, Ruling.UNKNOWN)
    return result_not_run(left.joined(), left.code, "cannot collect them", Ruling.UNKNOWN)


def _blamed(left: CandidateTests, report: TestReport, text: str) -> str | None:
    """Removes the tests that prevent collection or do not finish; returns the reason if no test caused it."""
    before = left.ids
    for diagnosis in diagnose(report, left.about):
        symptom = diagnosis.symptom
        if symptom.test:
            if symptom.test in report.running:
                left.judge(diagnosis, name_without_parameters(symptom.test))
            continue
        failure = symptom.failure
        deepest = failure.deepest
        if deepest is not None and deepest.origin is FrameOrigin.PROJECT:
            first_line = failure.message.partition("\n")[0]
            return f"{left.way.target} cannot be imported on its own: {failure.type}: {first_line}"
        line = failure.place[1] if failure.place else (deepest.line if deepest is not None else 0)
        named = {test for test in before if f"In {test.rpartition('::')[2]}:" in failure.message}
        for test in named or (owner_at(text, line) or frozenset()) & set(before):
            # A missing package is a problem of the environment, any other failed import one of the test.
            cause = diagnosis.cause if diagnosis.cause is Cause.ENVIRONMENT else Cause.TEST
            left.judge(replace(diagnosis, cause=cause), test)
    for test in report.running:
        if name_without_parameters(test) in left.ids:
            left.suspect(name_without_parameters(test), report.detail or "it does not finish")
    return None if left.ids != before else report.detail or "cannot collect them"


def _sort(left: CandidateTests, ran: FlakinessResult) -> None:
    """Removes the tests that do not pass every time."""
    diagnoses = {
        name_without_parameters(each.symptom.test): each for each in reversed(diagnose(ran.reports[0], left.about))
    }
    for test in ran.flaky:
        left.drop(test, "flaky")
    for test in ran.bad:
        if test in diagnoses:
            left.judge(diagnoses[test], test)
        else:
            left.drop(test, "not run here" if outcome(ran.reports[0], test) is CaseOutcome.SKIPPED else "wrong")


async def _measured(left: CandidateTests, target: Target) -> ValidationResult:
    """Drops tests that add nothing to those of the file, and runs the file once as it would be offered."""
    if not left.ids:
        return result_without_tests(left, "")
    request = left.job.request
    text = left.joined().text
    name = target.name.rpartition(".")[2]
    known = [each.id for each in tests_in(left.place.text) if name and name in each.text][:_MOST_KNOWN]
    mutants = await asyncio.to_thread(mutant_trial.mutants_for, request.source.text, target.name)
    wanted = mutant_trial.lines_of(request.source.text, target.name)
    plan = left.way.running(text, *left.ids)
    noticed = await mutant_trial.try_mutants(
        left.runtime, plan, left.way.target, [*left.ids, *known], mutants, wanted
    )  # fmt: skip
    if noticed.why_not and known:  # the existing tests may be slow, or fail
        noticed = await mutant_trial.try_mutants(left.runtime, plan, left.way.target, left.ids, mutants, wanted)
        known = []
    kept = _select_tests(left.ids, known, noticed)
    for test in left.ids:
        if test not in kept:
            left.drop(test, "redundant")
    if not left.ids:
        return result_without_tests(left, "the existing tests cover and detect as much")
    if problem := await _whole_file(left):
        return result_without_tests(left, problem)
    return result_of_kept(left, noticed, [*kept, *known])


async def _whole_file(left: CandidateTests) -> str:
    """Runs the file as it would be offered; returns the problem, or "". The user's tests must still pass."""
    text = left.joined().text
    old = tests_in(left.place.text)
    new = {each.id: each.text for each in tests_in(text)}
    if any(new.get(each.id) != each.text for each in old):
        return "adding them would change existing tests"
    report = await run_tests(left.runtime.sandbox, left.way.running(text))
    bad = [test for test in left.ids if outcome(report, test) is not CaseOutcome.PASSED]
    if bad:
        return f"in the complete file, `{bad[0]}` does not pass: {report.detail}"
    lost = [each.id for each in old if outcome(report, each.id) not in (CaseOutcome.PASSED, CaseOutcome.SKIPPED)]
    if lost:
        before = await run_tests(left.runtime.sandbox, left.way.running(left.place.text))
        broken = [test for test in lost if outcome(before, test) is CaseOutcome.PASSED]
        if broken:
            return f"with them in the file, `{broken[0]}` does not pass any more"
    return ""


async def _whole(
    runtime: Runtime, way: SuitePlan, text: Source, code: str, mutants: Sequence[Mutant] | None
) -> ValidationResult:
    """Validates the file of a language whose tests are not split: all of it has to pass three times."""
    plan = way.running(text.text, seconds=60.0)
    try:
        first = await run_tests(runtime.sandbox, replace(plan, limits=None))
    except UsageError as unknown:
        return result_not_run(text, code, str(unknown), Ruling.SKIPPED)
    if first.inconclusive:
        return result_not_run(text, code, first.why_not, Ruling.UNKNOWN if first.starved else Ruling.SKIPPED)
    passed = [case.id for case in first.cases if case.outcome is CaseOutcome.PASSED]
    if not first.green:
        failed = first.failed()
        why = f"{failed[0].id} fails: {failed[0].failure.summary}" if failed and failed[0].failure else first.detail
        detail = f"the tests fail: {why.strip().partition(chr(10))[0] or first.outcome}"
        return ValidationResult(text, code, 0, (Evidence(Check.TESTS, Ruling.FAIL, detail),), problem=detail)
    ran = await run_three_times(
        runtime.sandbox, replace(plan, limits=None), first, tuple(map(name_without_parameters, passed))
    )
    if ran.starved:
        return result_not_run(text, code, ran.starved[0].why_not, Ruling.UNKNOWN)
    if ran.flaky:
        detail = f"the results vary between runs: {', '.join(ran.flaky[:3])}"
        return ValidationResult(text, code, 0, (Evidence(Check.TESTS, Ruling.FAIL, detail),), problem=detail)
    detail = f"{plural(len(passed), 'test')} of the file {verb('pass', len(passed))} three times"
    evidence = (
        Evidence(Check.TESTS, Ruling.PASS, detail),
        await _mutants_of_whole(runtime, way, plan, passed, mutants),
    )
    return unless_forged(ValidationResult(text, code, len(passed), evidence), first.signs)


async def _mutants_of_whole(
    runtime: Runtime, way: SuitePlan, plan: TestPlan, passed: Sequence[str], mutants: Sequence[Mutant] | None
) -> Evidence:
    """How many mutants the tests of a whole file detect; None are there for languages without any."""
    if mutants is None:
        return Evidence(
            Check.MUTANTS, Ruling.SKIPPED, "mutation testing supports Python, JavaScript and TypeScript only"
        )
    trial = await try_on_whole(runtime, plan, way.target, [*map(name_without_parameters, passed)], mutants)
    if trial.tried:
        return detected_mutants(trial.tried - len(trial.survivors), trial.tried)
    why = "out of time" if mutants else "nothing to mutate"
    return Evidence(Check.MUTANTS, Ruling.SKIPPED, f"no mutation testing: {why}")


def _about(request: Request, target: Target, runtime: Runtime, way: SuitePlan) -> CodeFacts:
    """The facts for the diagnosis: the code is assumed correct, and the tests are not trusted."""
    text = request.source.text
    modules = (way.target.removesuffix(".py").rpartition("/")[2], way.target.partition("/")[0])
    return code_facts(text, target.name, environment=runtime.python, texts={way.target: text}, modules=modules)


def _select_tests(tests: Sequence[str], known: Collection[str], noticed: mutant_trial.MutantResults) -> tuple[str, ...]:
    """The tests that add to the `known` ones and to each other, a line or a detected mutant, the best chosen first;
    all if nothing was measured.
    """
    if not noticed.lines and not noticed.kills:
        return tuple(tests)
    seen = {each for one in known for each in noticed.of(one)}
    kept = []
    for one in sorted(tests, key=lambda each: (-len(noticed.of(each)), tests.index(each))):
        if noticed.of(one) - seen:
            seen |= noticed.of(one)
            kept.append(one)
    return tuple(one for one in tests if one in kept)

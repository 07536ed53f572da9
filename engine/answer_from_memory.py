"""Answers from memory: a kept solution of the same request and signature, judged like a model's reply.

It is offered only if tests pass on it now: the project's, the examples of its docstring, or those that are stored with
it. If these do not finish in the remaining time, nothing is proven. No model is called.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection
from dataclasses import replace

from stet_ls.engine.actions.action import Action, isolation
from stet_ls.engine.actions.generated_tests.location import find_suite_file
from stet_ls.engine.actions.generated_tests.suite_plans import SuitePlan, suite_plan
from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.budget import Budget
from stet_ls.engine.api.evidence import Check, Evidence, Ruling
from stet_ls.engine.errors import LimitError, ModelError, UsageError
from stet_ls.engine.job.job import Job
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.project_tests.executed_changes import executed_change
from stet_ls.engine.judges.project_tests.reachability import names_any, test_name, with_callers
from stet_ls.engine.judges.project_tests.report_text import not_executed_text
from stet_ls.engine.memory.recall import RecalledSolution
from stet_ls.engine.model.chat import known_reply
from stet_ls.engine.plurals import plural, verb
from stet_ls.engine.runners.report import CaseOutcome, TestReport
from stet_ls.engine.runners.run_tests import run_tests
from stet_ls.validators.source import Source, Splice

_RAN = (Check.TESTS, Check.DOCTEST)


async def answer_from_memory(job: Job, action: Action, known: RecalledSolution) -> Answer | None:
    """The answer from a remembered solution; None if the solution does not pass, and a model has to be asked."""
    if job.request.budget is Budget.QUICK or not job.settings.checks.validation:
        return None  # no tests that could prove it are run
    warned, own = list(job.usage.warnings), None
    job.canned_reply = known_reply(known.text, job.request.language)
    try:
        answer = await action.run(job)
        if answer.success and not answer.refuted:
            own = await _own_tests(job, answer, known.tests)
    except (ModelError, LimitError, UsageError):
        return None
    finally:
        job.canned_reply = None
    if own is not None:  # in place of the project's tests, which gave no result
        kept = (item for item in answer.evidence if item.check is not Check.TESTS or item.trusted)
        answer = replace(answer, evidence=(*kept, own), tests=known.tests)
    is_open = own is not None and own.verdict is Ruling.UNKNOWN
    passes = any(item.check in _RAN and item.verdict is Ruling.PASS for item in answer.evidence)
    if not answer.success or answer.refuted or is_open or not passes:
        why = [f"Remembered solution not proven: {own.detail}."] if own is not None and is_open else []
        job.usage.warnings[:] = [*warned, *why]
        return None
    summary = replace(answer.summary, recalled=f"from memory, {known.support}, its tests pass")
    warnings = tuple(each for each in answer.warnings if each in warned)
    return replace(answer, summary=summary, warnings=warnings, isolation=isolation(job))


async def _own_tests(job: Job, answer: Answer, tests: str) -> Evidence | None:
    """The result of the tests that are stored with it; None if there are none or the document has no path."""
    request = job.request
    if not tests.strip() or request.path is None:
        return None
    began = time.monotonic()
    after = request.source.splice(Splice(edit.span, edit.new_text) for edit in answer.edits).text
    runtime = await job.runtime(after, tests)
    if runtime is None or runtime.lacks_interpreter(request.language):
        return None
    place = await asyncio.to_thread(find_suite_file, request)
    way = suite_plan(runtime, request.language, request.path, after, place.path)
    with job.stage("judge"):
        report = await run_tests(runtime.sandbox, replace(way.running(tests), traced=(way.target,)))
    number = len(report.cases)
    verdict, detail = Ruling.FAIL, f"its own tests do not pass: {report.why_not}"
    if report.starved:
        verdict, detail = Ruling.UNKNOWN, "its own tests did not finish in time"
    elif report.inconclusive:
        verdict, detail = Ruling.UNKNOWN, f"its own tests could not be run: {report.why_not}"
    elif report.green and number:
        detail = f"its own {plural(number, 'test')} {verb('pass', number)}"
        case = Case(request.action, request.language, request.path, request.source, Source(after), "", runtime=runtime)
        unrun = await _unrun(case, way, tests, report)
        verdict = Ruling.UNKNOWN if unrun else Ruling.PASS
        detail += f", but {unrun}" if unrun else ""
    return Evidence(Check.TESTS, verdict, detail, seconds=time.monotonic() - began, count=number)


async def _unrun(case: Case, way: SuitePlan, tests: str, report: TestReport) -> str:
    """The code that its own tests, which pass, do not execute; "" if they execute all of it."""
    runtime = case.runtime
    assert runtime is not None

    def named_in(ids: Collection[str], names: frozenset[str]) -> frozenset[str]:
        leads = with_callers(case.after.text, names, case.language)
        return frozenset(each for each in ids if names_any(test_name(each), tests, leads, case.language))

    async def other(text: str) -> TestReport | None:
        plan = way.running(tests)
        return await run_tests(runtime.sandbox, replace(plan, files={**plan.files, way.target: text.encode()}))

    good = frozenset(each.id for each in report.cases if each.outcome is CaseOutcome.PASSED)
    reach = await executed_change(case, report.traced.get(way.target), good, frozenset(), named_in, other)
    return reach.why or not_executed_text(len(good), reach.missed) if reach.missed or not reach.tests else ""

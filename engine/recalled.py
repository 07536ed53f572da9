"""Answering with what stood before: the same words for the same signature, judged as a model's reply would be.

It is offered only if tests pass on it here and now: the project's, the examples of its docstring, or those that it was
remembered with. No model is called.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace

from stet_ls.engine.actions.placement import find_place
from stet_ls.engine.actions.recipe import Recipe
from stet_ls.engine.errors import LimitError, ModelError, UsageError
from stet_ls.engine.job import Job
from stet_ls.engine.judges.own_tests.plans import planned
from stet_ls.engine.judges.verdict import summary
from stet_ls.engine.memory.hits import Known
from stet_ls.engine.model.chat import Completion
from stet_ls.engine.models import Answer, Budget, Check, Evidence, Ruling
from stet_ls.engine.sandbox.runners.run import run_tests
from stet_ls.validators.source import Splice

_RAN = (Check.TESTS, Check.DOCTEST)


async def recalled(job: Job, recipe: Recipe, known: Known) -> Answer | None:
    """The answer that a remembered solution makes; None if it does not hold here, and a model has to be asked."""
    if job.request.budget is Budget.QUICK or not job.settings.checks.validation:
        return None  # nothing is run that could prove it
    warned = list(job.ledger.warnings)
    job.given = _reply(known, job.request.language)
    try:
        answer = await recipe.run(job)
        if answer.success and not answer.refuted:
            answer = await _with_own_tests(job, answer, known.tests)
    except (ModelError, LimitError, UsageError):
        return None
    finally:
        job.given = None
    if not answer.success or answer.refuted or not any(_passes(item) for item in answer.evidence):
        job.ledger.warnings[:] = warned
        return None
    done = answer.message.partition(" · ")[0]
    message = f"{done} · from memory, {known.stood}, its tests pass · {summary(answer.evidence)}"
    return replace(answer, message=message, warnings=tuple(each for each in answer.warnings if each in warned))


def _reply(known: Known, language: str) -> Completion:
    fence = "`" * (3 + max((len(run) for run in known.text.split() if set(run) == {"`"}), default=0))
    text = f"CODE:\n{fence}{language}\n{known.text.rstrip()}\n{fence}\n"
    return Completion(text, "", "stop", None, "", "", 0.0, 0.0, 0, cost=0.0)


async def _with_own_tests(job: Job, answer: Answer, tests: str) -> Answer:
    """With what the tests say that it was remembered with, if there are any and the document has a place."""
    request = job.request
    if not tests.strip() or request.path is None:
        return answer
    began = time.monotonic()
    after = request.source.splice(Splice(edit.span, edit.new_text) for edit in answer.edits).text
    runtime = await job.runtime(after, tests)
    if runtime is None or (request.language == "python" and runtime.python is None):
        return answer
    place = await asyncio.to_thread(find_place, request)
    way = planned(runtime, request.language, request.path, after, place.path)
    with job.stage("judge"):
        report = await run_tests(runtime.sandbox, way.running(tests, seconds=max(1.0, runtime.left())))
    count = len(report.cases)
    verdict = Ruling.PASS if report.green and count else Ruling.UNKNOWN if report.starved else Ruling.FAIL
    said = f"its own {count} test{'' if count == 1 else 's'} pass{'es' if count == 1 else ''}"
    wrong = "could not be run" if report.starved else "do not pass"
    detail = said if verdict is Ruling.PASS else f"its own tests {wrong}: {report.detail or report.outcome}"
    own = Evidence(Check.TESTS, verdict, detail, seconds=time.monotonic() - began, count=count)
    kept = (item for item in answer.evidence if item.check is not Check.TESTS or item.verdict is Ruling.PASS)
    return replace(answer, evidence=(*kept, own), tests=tests)


def _passes(item: Evidence) -> bool:
    return item.check in _RAN and item.verdict is Ruling.PASS

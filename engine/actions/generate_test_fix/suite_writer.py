"""Tests that a model writes from a specification: requested, read, and requested again if they cannot be used."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from stet_ls.engine.actions.action import Action, JobPrompt, build_job_prompt
from stet_ls.engine.actions.generate_test_fix.loop_plan import LoopPlan
from stet_ls.engine.actions.generated_tests.insertion import prepare_tests
from stet_ls.engine.api.actions import ACTIONS
from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.events import Stage
from stet_ls.engine.diagnosis.diagnosis import Diagnosis
from stet_ls.engine.errors import ModelError, PolicyError, UsageError
from stet_ls.engine.job.job import Job
from stet_ls.engine.privacy.placeholders import hide_secrets
from stet_ls.engine.privacy.redact import restore
from stet_ls.engine.prompt.build import Prompt, RejectionReason, TaskSpec, repair
from stet_ls.engine.prompt.fence import code_fence
from stet_ls.engine.prompt.tokens import estimate
from stet_ls.engine.reply.parsing.parse_reply import parse_reply

_LEAST_TOKENS = 600
_TASK = TaskSpec(
    goal="Write tests for the code from what it is meant to do. Its body is hidden from you.",
    reply_kind="tests",
    rules=(
        "Write three to six small tests with clear names, each for one behaviour, edge cases included.",
        "Take every expected value from the instruction and the documentation. Test nothing that they leave open.",
        "Import what is tested; do not write its code.",
        "No mocks, no network, no files.",
    ),
)
_UNITTEST = "Write them as methods of one class that derives from unittest.TestCase: pytest is not installed."


@dataclass(frozen=True, slots=True)
class GeneratedSuite:
    """Tests, by their ids after the file name, whose text is `code`; and the prompt that requested them."""

    code: str
    tests: tuple[str, ...]
    prompt: Prompt = field(repr=False)


async def write(job: Job, plan: LoopPlan) -> GeneratedSuite | str:
    """Tests from the specification alone, or the reason if there are none."""
    try:
        about = await asyncio.to_thread(_suite_prompt, job, plan)
    except (UsageError, PolicyError) as error:  # too large or hidden: the candidate exists anyway
        return str(error)
    return await _request_suite(job, plan, about.prompt)


async def rewrite(job: Job, plan: LoopPlan, suite: GeneratedSuite, wrong: Sequence[Diagnosis]) -> GeneratedSuite | str:
    """Replaces tests that were wrong. Fewer tests, or tests that assert less, are rejected."""
    fence = code_fence(suite.code)
    problems = "\n".join(f"- {each.symptom.test or each.symptom.file}: {each.sentence}." for each in wrong)
    reply = f"TESTS:\n{fence}{plan.language}\n{suite.code.rstrip()}\n{fence}"
    try:
        prompt = repair(
            suite.prompt, reply, RejectionReason.of(hide_secrets(problems, suite.prompt.secrets), by="tests")
        )
    except PolicyError as error:
        return str(error)
    second = await _request_suite(job, plan, prompt)
    if isinstance(second, str):
        return second
    lost = plan.loop_language.count(suite.code).lost(plan.loop_language.count(second.code))
    return f"the repaired tests have {lost}, so they were rejected" if lost else second


def _suite_prompt(job: Job, plan: LoopPlan) -> JobPrompt:
    """The prompt with nothing but the specification: the index contains the code, and the memory may as well."""
    rules = (*_TASK.rules, *plan.loop_language.rules, *([_UNITTEST] if plan.framework == "unittest" else []))
    action = Action(ACTIONS["test"], replace(_TASK, rules=rules), _never)
    return build_job_prompt(replace(job, request=plan.request, index=None, remembered=()), action)


async def _never(job: Job) -> Answer:
    raise AssertionError("this action only words a prompt")


async def _request_suite(job: Job, plan: LoopPlan, prompt: Prompt) -> GeneratedSuite | str:
    room = job.deadline.reply_room(estimate(plan.request.source.text) + 1200, _LEAST_TOKENS)
    try:
        stage = Stage("specification", str(plan))
        reply = await job.ask(prompt, temperature=0.2, max_tokens=room, stage=stage)
    except (ModelError, PolicyError) as error:
        return str(error)
    text, cut = restore(reply.text, prompt.secrets), reply.finish != "stop"
    read = parse_reply(text, language=plan.language, reply_kind="tests", symbol=plan.target.name, truncated=cut)
    code = read.tests or read.code
    if code is None:
        return hide_secrets(read.problem or "the reply contains no tests", prompt.secrets)
    code = plan.loop_language.ready(
        prepare_tests(plan.place, code, plan.request, plan.target), plan.about, plan.place.path
    )
    tests = plan.loop_language.tests(code)
    return GeneratedSuite(code, tests, prompt) if tests else "the reply contains no runnable test"

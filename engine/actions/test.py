"""Test: new tests for the target, in the project's test file or a new one where the project's conventions put it.

def slug(title): ...          =>      tests/test_text.py: def test_slug_joins_words(): ...

Each is run three times and covers or detects something that the others do not. Tests that fail on the present code
are not part of the edit: they are shown separately, since either the code or the test may be wrong.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace

from stet_ls.engine.actions.action import Action, JobPrompt, build_job_prompt, finish_answer, refusal
from stet_ls.engine.actions.generated_tests.candidate_tests import SuspectTest
from stet_ls.engine.actions.generated_tests.insertion import insert_tests, prepare_tests
from stet_ls.engine.actions.generated_tests.location import SuiteFile, find_suite_file
from stet_ls.engine.actions.generated_tests.validation import validate
from stet_ls.engine.actions.generated_tests.validation_result import ValidationResult
from stet_ls.engine.api.actions import ACTIONS
from stet_ls.engine.api.answer import Answer, Edit, NewFile
from stet_ls.engine.api.events import JudgeFinished
from stet_ls.engine.api.evidence import Check
from stet_ls.engine.api.summary import Summary
from stet_ls.engine.errors import LimitError, ModelError
from stet_ls.engine.job.job import Job
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.confidence import confidence
from stet_ls.engine.judges.table import judges_for
from stet_ls.engine.loop import Draft, Proposal, UnusableReply, judge_draft, judge_reply, propose
from stet_ls.engine.markdown import fenced, harmless
from stet_ls.engine.model.chat import Completion
from stet_ls.engine.privacy.placeholders import hide_secrets, misplaced_placeholder
from stet_ls.engine.prompt.build import TaskSpec, further
from stet_ls.engine.prompt.tokens import estimate
from stet_ls.engine.reply.parsing.parse_reply import parse_reply
from stet_ls.validators.source import Source

TASK = TaskSpec(
    goal="Write tests for the code.",
    reply_kind="tests",
    rules=(
        "Write three to six small tests with clear names, each for one behaviour, edge cases included.",
        "Take the expected values from what the code is meant to do, not from what it happens to do.",
        "Import what is tested; do not repeat its code.",
        "No mocks, no network, no files.",
    ),
    spec_first=True,
)

_LEAST_TOKENS = 400
"""Tokens for a few small tests; of a truncated reply, the complete tests are kept."""


async def run(job: Job) -> Answer:
    """Offers a new test file, or tests at the end of the existing one."""
    request = job.request
    if request.path is None:
        return refusal(job, "Test: save the document first; its test file needs a folder.")
    with job.stage("context"):
        about = await asyncio.to_thread(build_job_prompt, job, ACTION)
        place = await asyncio.to_thread(find_suite_file, request)
    size = job.deadline.reply_room(estimate(request.source.slice(about.target.span)) + 1200, _LEAST_TOKENS)

    async def read(completion: Completion) -> Draft[str] | UnusableReply:
        return await asyncio.to_thread(_read, job, about, place, completion)

    proposal = await propose(
        job, about.prompt, read, judges_for(*ACTION.spec.judged_as), temperature=0.2, max_tokens=size
    )
    if isinstance(proposal, UnusableReply):
        no = refusal(job, f"Test: no tests. {proposal.problem}")
        # If the requested tests exist already, a model says so and writes none.
        name = re.escape(about.target.name or place.path.name)
        return replace(no, nothing_to_do=place.exists and re.search(rf"\b{name}\b", place.text) is not None)
    if not proposal.offerable:
        refuted = proposal.refuted_by
        no = refusal(job, f"Test: no tests, {refuted.detail if refuted else 'they were refuted'}.")
        return replace(no, evidence=proposal.evidence)
    validated = await _validated(job, place, proposal.draft.content, about)
    if validated.gaps and job.settings.checks.auto_fix and job.may_ask_again():
        validated = await _with_more(job, place, about, validated, size)
    proposal = await _of_kept(job, proposal, validated, about)
    with job.stage("finish"):
        return _answer(job, place, about, proposal, validated)


async def _of_kept(job: Job, proposal: Proposal[str], validated: ValidationResult, about: JobPrompt) -> Proposal[str]:
    """The proposal with the evidence of the tests that are kept: what was dropped is no risk of the edit."""
    draft = proposal.draft
    if validated.problem or validated.text.text == draft.case.after.text:
        return proposal
    kept = replace(draft, case=replace(draft.case, after=validated.text))
    with job.stage("judge"):
        result = await judge_draft(job, kept, judges_for(*ACTION.spec.judged_as), about.prompt.secrets)
    return proposal if isinstance(result, UnusableReply) else result


async def _validated(job: Job, place: SuiteFile, code: str, about: JobPrompt) -> ValidationResult:
    with job.stage("tests"):
        validated = await validate(job, place, code, about.target)
        secrets = about.prompt.secrets
        evidence = tuple(replace(each, detail=hide_secrets(each.detail, secrets)) for each in validated.evidence)
        validated = replace(validated, evidence=evidence)
    for item in validated.evidence:
        job.on_event(JudgeFinished(item))
    return validated


async def _with_more(
    job: Job, place: SuiteFile, about: JobPrompt, first: ValidationResult, size: int
) -> ValidationResult:
    """The result with the tests of one further call that names the gaps; the passing tests stay unchanged."""
    prompt = further(about.prompt, first.code, "\n".join(first.gaps))
    grown = SuiteFile(place.path, first.text.text, exists=place.exists)

    async def read(completion: Completion) -> Draft[str] | UnusableReply:
        return await asyncio.to_thread(_read, job, replace(about, prompt=prompt), grown, completion)

    try:
        reply = await job.ask(prompt, temperature=0.4, max_tokens=size)
    except (ModelError, LimitError) as error:
        job.usage.warnings.append(f"No further tests: {error}")
        return first
    with job.stage("judge"):
        result = await judge_reply(job, reply, read, judges_for(*ACTION.spec.judged_as), prompt.secrets)
    if isinstance(result, UnusableReply) or not result.offerable or result.refuted_by is not None:
        return first
    return _together(first, await _validated(job, grown, result.draft.content, about))


def _together(first: ValidationResult, more: ValidationResult) -> ValidationResult:
    """Both rounds combined. The second round tried its mutants on the tests of both."""
    suspects = (*first.suspects, *more.suspects)
    dropped = first.dropped + more.dropped
    ran = all(item.verdict == "pass" for item in more.evidence if item.check is Check.TESTS)
    if more.problem or not more.count or not ran:
        return replace(first, suspects=suspects, dropped=dropped)
    count = first.count + more.count
    reasons = ", ".join(f"{number} {reason}" for reason, number in sorted(dropped.items()))
    verb = "tests pass" if count > 1 else "test passes"
    detail = f"{count} {verb} three times{f' (dropped: {reasons})' if reasons else ''}"
    evidence = tuple(replace(each, detail=detail) if each.check is Check.TESTS else each for each in more.evidence)
    return replace(more, count=count, evidence=evidence, suspects=suspects, dropped=dropped)


def _answer(
    job: Job, place: SuiteFile, about: JobPrompt, proposal: Proposal[str], validated: ValidationResult
) -> Answer:
    request, target = job.request, about.target
    evidence = (*proposal.evidence, *validated.evidence)
    suspects = [
        replace(each, sentence=hide_secrets(each.sentence, about.prompt.secrets)) for each in validated.suspects
    ]
    markdown = _suspects_report(suspects, request.language)
    if validated.problem:
        no = refusal(job, f"Test: no tests, {hide_secrets(validated.problem, about.prompt.secrets)}.")
        return replace(
            no,
            evidence=evidence,
            markdown=markdown,
            explanation=_sentences(suspects),
            nothing_to_do=validated.redundant,
        )
    text, present = validated.text.text, Source(place.text)
    chance = confidence(evidence, job.profile.tier, model=job.usage.model, truncated=proposal.draft.truncated)
    named = f"`{target.name}`" if target.name else (request.path.name if request.path else "the document")
    notes = (f"{len(suspects)} shown separately: a possible bug or a wrong expectation",) if suspects else ()
    answer = Answer(
        success=True,
        action=request.action,
        language=request.language,
        summary=Summary("Wrote tests for", named, place.path.name, notes=notes),
        edits=(Edit(place.path, present, present.whole, text),) if place.exists else (),
        new_files=() if place.exists else (NewFile(place.path, text),),
        markdown=markdown,
        code=request.source.slice(target.span),
        tests=text,
        explanation=_sentences(suspects),
        confidence=chance.chance,
        warnings=validated.notes,
        evidence=evidence,
        guard=target.span,
        metadata=chance.metadata(),
    )
    return finish_answer(job, answer)


def _read(job: Job, about: JobPrompt, place: SuiteFile, completion: Completion) -> Draft[str] | UnusableReply:
    request, language, target = job.request, job.request.language, about.target
    cut = completion.finish != "stop"
    reply = parse_reply(completion.text, language=language, reply_kind="tests", symbol=target.name, truncated=cut)
    code = reply.tests or reply.code
    if code is None:
        return UnusableReply(reply.problem or "The reply contains no tests.")
    code = prepare_tests(place, code, request, target)
    before, after = Source(place.text), insert_tests(place, code, request, job.tools)
    if problem := misplaced_placeholder(place.text + request.source.text, after.text, {}):
        return UnusableReply(problem)
    unseen = frozenset(about.prompt.secrets.values())
    case = Case("test", language, place.path, before, after, tools=job.tools, secrets=unseen)
    return Draft(code, case, truncated=cut)


def _suspects_report(suspects: list[SuspectTest], language: str) -> str:
    """The tests that fail on the present code, for a person to review: they are in no file."""
    if not suspects:
        return ""
    parts = ["# Possible bug, or wrong expectation", "These tests fail on the current code and are not in any file."]
    for each in suspects:
        parts += [f"- {each.sentence}", fenced(each.test.text, language)]
    return harmless("\n\n".join(parts)) + "\n"


def _sentences(suspects: list[SuspectTest]) -> str:
    return "\n".join(f"Possible bug or wrong expectation: {each.test.name}: {each.sentence}" for each in suspects)


ACTION = Action(ACTIONS["test"], TASK, run)

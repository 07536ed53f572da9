"""Test: new tests for the target, in the project's own test file or one that stands where the project would put it.

def slug(title): ...          =>      tests/test_text.py: def test_slug_joins_words(): ...
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

from stet_ls.engine.actions.answers import finished, refusal
from stet_ls.engine.actions.joining import join
from stet_ls.engine.actions.placement import Place, find_place
from stet_ls.engine.actions.recipe import Recipe, brief
from stet_ls.engine.actions.rewrite import NOT_RUN
from stet_ls.engine.job import Job
from stet_ls.engine.judges import danger, lint, names, noop, syntax
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.verdict import confidence, summary
from stet_ls.engine.loop import Draft, Unusable, propose
from stet_ls.engine.model.chat import Completion
from stet_ls.engine.models import Answer, Edit, NewFile, Target
from stet_ls.engine.prompt.build import Prompt, Task
from stet_ls.engine.prompt.returned import misplaced
from stet_ls.engine.prompt.tokens import estimate
from stet_ls.engine.reply.parse import parse_reply
from stet_ls.validators.source import Source

TASK = Task(
    action="test",
    goal="Write tests for the code.",
    wants="tests",
    rules=(
        "Write three to six small tests with clear names, each for one behaviour, edge cases included.",
        "Take the expected values from what the code is meant to do, not from what it happens to do.",
        "Import what is tested; do not repeat its code.",
        "No mocks, no network, no files.",
    ),
)

_LEAST_TOKENS = 400
"""Tokens in which a few small tests fit; of a reply that broke off, the whole ones are kept."""

JUDGES = (noop.judge, syntax.judge, danger.judge, names.judge, lint.judge)


async def run(job: Job) -> Answer:
    """Offers a test file, or tests at the end of the one that is there."""
    request = job.request
    if request.path is None:
        return refusal(job, "Test: save the document first; a test file needs a place beside it.")
    with job.stage("context"):
        about = await asyncio.to_thread(brief, job, RECIPE)
        place = await asyncio.to_thread(find_place, request)
    target, prompt = about.target, about.prompt

    async def read(completion: Completion) -> Draft[str] | Unusable:
        return await asyncio.to_thread(_read, job, target, place, prompt, completion)

    size = job.reply_room(estimate(request.source.slice(target.span)) + 1200, _LEAST_TOKENS)
    proposal = await propose(job, prompt, read, JUDGES, temperature=0.2, max_tokens=size)
    with job.stage("finish"):
        if isinstance(proposal, Unusable):
            return refusal(job, f"Test: no tests. {proposal.problem}")
        evidence = (*proposal.evidence, NOT_RUN)
        if not proposal.offerable:
            refuted = proposal.refuted_by
            no = refusal(job, f"Test: no tests, {refuted.detail if refuted else 'they were refuted'}.")
            return replace(no, evidence=evidence)
        text = proposal.draft.content
        answer = Answer(
            success=True,
            action=request.action,
            language=request.language,
            message=f"Wrote tests for {_about(job, target)} in {place.path.name} · {summary(evidence)}",
            edits=_edits(place, text),
            new_files=() if place.exists else (NewFile(place.path, text),),
            code=request.source.slice(target.span),
            tests=text,
            confidence=confidence(evidence, job.profile.tier, truncated=proposal.draft.truncated),
            evidence=evidence,
            guard=target.span,
            metadata={"calibration": "default"},
        )
        return finished(job, answer)


def _read(job: Job, target: Target, place: Place, prompt: Prompt, completion: Completion) -> Draft[str] | Unusable:
    request, language = job.request, job.request.language
    cut = completion.finish != "stop"
    reply = parse_reply(completion.text, language=language, wants="tests", symbol=target.name, truncated=cut)
    code = reply.tests or reply.code
    if code is None:
        return Unusable(reply.problem or "The reply held no tests.")
    before, after = Source(place.text), join(place, code, job.request, target, job.tools)
    if problem := misplaced(place.text + request.source.text, after.text, {}):
        return Unusable(problem)
    unseen = frozenset(prompt.secrets.values())
    case = Case("test", language, place.path, before, after, tools=job.tools, secrets=unseen)
    return Draft(after.text, case, truncated=cut)


def _edits(place: Place, text: str) -> tuple[Edit, ...]:
    if not place.exists:
        return ()
    base = Source(place.text)
    return (Edit(place.path, base, base.whole, text),)


def _about(job: Job, target: Target) -> str:
    return f"`{target.name}`" if target.name else f"{job.request.path.name if job.request.path else 'the document'}"


RECIPE = Recipe("test", "Write tests", "Write tests into the project's test file.", TASK, run)

"""Shared steps of the actions that answer in words and make no edit: explain and analyze."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

from stet_ls.engine.actions.action import Action, build_job_prompt
from stet_ls.engine.api.request import Target
from stet_ls.engine.job.job import Job
from stet_ls.engine.judges.case import Case
from stet_ls.engine.loop import Draft, UnusableReply, propose
from stet_ls.engine.markdown import code_span
from stet_ls.engine.model.chat import Completion
from stet_ls.engine.privacy.placeholders import for_reader
from stet_ls.engine.prompt.target import resolve_target
from stet_ls.engine.reply.parsing.parse_reply import parse_reply
from stet_ls.validators.metrics.style import lines_of as lines_of_span

MAX_TOKENS = 900
"""The most tokens of an explanation; longer ones are not read."""
LEAST_TOKENS = 300
"""The fewest tokens in which an explanation can be useful."""


@dataclass(frozen=True, slots=True)
class ProseReply:
    """The model's text about the target. `truncated`: it is cut off. `secrets` are the values hidden from the model."""

    text: str
    truncated: bool
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)


async def find_target(job: Job) -> Target:
    """The target of the job."""
    with job.stage("target"):
        return await asyncio.to_thread(resolve_target, job.request)


async def ask_for_prose(job: Job, target: Target, action: Action) -> ProseReply | UnusableReply:
    """Asks the model for prose about the target. Raises ModelError."""
    request = job.request
    with job.stage("context"):
        prompt = (await asyncio.to_thread(build_job_prompt, job, action)).prompt
    case = Case(request.action, request.language, request.path, request.source, request.source, target.name, job.tools)

    async def read(completion: Completion) -> Draft[ProseReply] | UnusableReply:
        cut = completion.finish != "stop"
        text = for_reader(completion.text, prompt.secrets)
        reply = parse_reply(text, language=request.language, reply_kind="prose", truncated=cut)
        if not reply.prose.strip():
            return UnusableReply(reply.problem or "The reply was empty.")
        return Draft(ProseReply(reply.prose.strip(), cut, prompt.secrets), case, truncated=cut)

    answer = await propose(
        job, prompt, read, (), temperature=0.1, max_tokens=job.deadline.reply_room(MAX_TOKENS, LEAST_TOKENS)
    )
    return answer if isinstance(answer, UnusableReply) else answer.draft.content


def heading(job: Job, target: Target) -> str:
    """The subject of a report, as a markdown heading: the name of the unit or of the file."""
    path = job.request.path
    return code_span(target.name) if target.name else (code_span(path.name) if path is not None else "this document")


def lines_of(job: Job, target: Target) -> str:
    """The lines of the target, counted from 1: "lines 3-14 of dates.py"."""
    source = job.request.source
    lines = lines_of_span(source, target.span)
    first, last = lines.start + 1, max(lines.stop, lines.start + 1)
    where = "" if job.request.path is None else f" of {job.request.path.name}"
    return f"lines {first}-{last}{where}" if last > first else f"line {first}{where}"

"""The model's findings: requested as a list, kept only if the quoted line is in the code, marked as opinions."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from stet_ls.engine.actions.action import Action, build_job_prompt
from stet_ls.engine.actions.analysis.claim_check import check_claims
from stet_ls.engine.api.answer import CONFIRMED, OPINION
from stet_ls.engine.api.budget import Budget
from stet_ls.engine.api.events import Stage
from stet_ls.engine.api.request import Request, Selection, Target
from stet_ls.engine.errors import StetError, UsageError
from stet_ls.engine.job.job import Job
from stet_ls.engine.markdown import plain
from stet_ls.engine.privacy.placeholders import for_reader
from stet_ls.engine.privacy.redact import restore
from stet_ls.engine.prompt.build import Prompt
from stet_ls.engine.prompt.target import resolve_target
from stet_ls.engine.reply.findings_reply import LocatedFinding, ModelFinding, place, read_opinions
from stet_ls.engine.reply.parsing.parse_reply import parse_reply
from stet_ls.validators.findings import Finding, Severity
from stet_ls.validators.metrics.complexity import Complexity
from stet_ls.validators.source import Source, Span

MAX_TOKENS = 500
"""Tokens of one reply: five findings take about 250."""
_MOST_PARTS = 4
_MILD = frozenset({"speed", "clarity"})


@dataclass(frozen=True, slots=True)
class ModelFindings:
    """Findings on a target; `dropped` ones quoted no line, `note` is why there are none, `about` the parts shown.

    `unread` parts of a large change were not shown.
    """

    placed: tuple[LocatedFinding, ...] = ()
    dropped: int = 0
    note: str = ""
    about: tuple[str, ...] = ()
    truncated: bool = False
    asked: bool = False
    unread: int = 0

    @property
    def confirmed(self) -> tuple[LocatedFinding, ...]:
        """The findings that a run confirmed."""
        return tuple(one for one in self.placed if one.confirmed)

    def findings(self, source: Source) -> tuple[Finding, ...]:
        """The findings that were not refuted, placed in the text for the editor."""
        return tuple(_finding(source, one) for one in self.placed if not one.refuted)


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of the target to ask about, with the job narrowed to it."""

    job: Job
    span: Span
    name: str = field(default="")


async def ask_for_findings(job: Job, target: Target, action: Action, functions: Sequence[Complexity]) -> ModelFindings:
    """The model's findings, or a `note` on what went wrong; of a large target, those on its most complex functions."""
    if job.request.budget is Budget.QUICK:
        return ModelFindings(note="The budget `quick` asks no model.")
    if not job.request.source.slice(target.span).strip():
        return ModelFindings(note="There is no code to review.")
    parts = list(_parts(job, target, functions))
    if isinstance(parts[0], UsageError):
        return ModelFindings(note=f"No opinion: {parts[0]}")
    found: list[ModelFindings] = []
    for part in parts:
        if found and (job.request.budget is Budget.STANDARD or not job.may_ask_again()):
            break
        try:
            found.append(await _ask(part, action))
        except StetError as error:
            if not found:
                return ModelFindings(note=f"No opinion: {error}")
            job.usage.warnings.append(f"A part was not reviewed: {error}")
            break
    return together(found)


def _parts(job: Job, target: Target, functions: Sequence[Complexity]) -> Iterator[_Part | UsageError]:
    """The target, or if that is too large its functions, the most complex first."""
    limit = job.prompt_budget() // 2
    try:
        resolve_target(job.request, limit_tokens=limit)
    except UsageError as error:
        too_large = error
    else:
        yield _Part(job, target.span)
        return
    found = 0
    for function in sorted(functions, key=lambda one: -one.cyclomatic):
        request = replace(job.request, selection=Selection(function.unit.span))
        try:
            narrowed = resolve_target(request, limit_tokens=limit)
        except UsageError:
            continue
        found += 1
        yield _Part(replace(job, request=request), narrowed.span, function.unit.qualified)
        if found == _MOST_PARTS:
            return
    if not found:
        yield too_large


async def _ask(part: _Part | UsageError, action: Action) -> ModelFindings:
    if isinstance(part, UsageError):
        raise part
    job = part.job
    with job.stage("context"):
        prompt = (await asyncio.to_thread(build_job_prompt, job, action)).prompt
    found = await ask_about(job, job.request, prompt, part.span)
    return replace(found, about=(part.name,) if part.name else ())


async def ask_about(
    job: Job, request: Request, prompt: Prompt, span: Span, *, stage: Stage | None = None
) -> ModelFindings:
    """The findings of one call about a part of the request's text; those that claim an exception are tried."""
    source = request.source
    completion = await job.ask(prompt, temperature=0.1, max_tokens=MAX_TOKENS, stage=stage, role="reviewer")
    cut = completion.finish != "stop"
    text = restore(completion.text, prompt.secrets)
    reply = parse_reply(text, language=request.language, reply_kind="prose", truncated=cut)
    if not reply.prose.strip():
        return ModelFindings(note=f"No opinion: {reply.problem or 'the reply was empty.'}", asked=True)
    first, last = source.line_of(span.start), source.line_of(span.end)
    lines = [(number, source.line_text(number)) for number in range(first, last + 1)]
    placed, dropped = place(read_opinions(reply.prose), lines)
    named = len(placed)
    known = [each.message for each in request.diagnostics if each.message]
    placed = [one for one in placed if not any(message in one.opinion.witness for message in known)]
    placed = [replace(one, opinion=_hidden(one.opinion, prompt.secrets)) for one in placed]
    if placed:
        with job.stage("judge"):
            placed = await check_claims(job, request, placed)
    none = "nothing new" if named else "no problem that can be checked"
    note = "" if placed or dropped else f"The model found {none}."
    return ModelFindings(tuple(placed), dropped, note, (), cut, asked=True)


def _hidden(opinion: ModelFinding, secrets: Mapping[str, str]) -> ModelFinding:
    """A finding without the secret values that it quotes: reports are passed on."""
    return replace(opinion, quote=for_reader(opinion.quote, secrets), witness=for_reader(opinion.witness, secrets))


def together(found: Sequence[ModelFindings]) -> ModelFindings:
    """The findings on several parts as one."""
    placed = tuple(one for part in found for one in part.placed)
    dropped = sum(part.dropped for part in found)
    note = "" if placed or dropped else found[0].note
    about = tuple(name for part in found for name in part.about)
    return ModelFindings(placed, dropped, note, about, any(part.truncated for part in found), asked=True)


def _finding(source: Source, one: LocatedFinding) -> Finding:
    span = source.line_span(one.line)
    text = source.slice(span)
    start = span.start + len(text) - len(text.lstrip())
    mild = Severity.HINT if one.opinion.kind in _MILD else Severity.INFORMATION
    return Finding(
        Span(start, max(start, span.end)),
        f"{one.opinion.kind}: {plain(one.opinion.witness)}",
        kind="lint",
        severity=Severity.WARNING if one.confirmed else mild,
        source=CONFIRMED if one.confirmed else OPINION,
        code=one.opinion.kind,
        line=one.line,
    )

"""One review of a text: measured by tools, read by the reviewer, its claims run."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace

from stet_ls.engine.actions.action import Action, build_job_prompt, refusal
from stet_ls.engine.actions.analysis.claim_check import check_claims
from stet_ls.engine.actions.analysis.model_findings import ModelFindings, ask_about, together
from stet_ls.engine.actions.reviewing.change_measures import ChangeMeasures, measure_change
from stet_ls.engine.actions.reviewing.change_parts import change_parts
from stet_ls.engine.actions.reviewing.score import parts_of
from stet_ls.engine.api.actions import ActionSpec, OfferedWhen
from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.events import Stage
from stet_ls.engine.api.request import Request, Selection
from stet_ls.engine.api.review import Review, ReviewFinding, ScorePart
from stet_ls.engine.errors import StetError, UsageError
from stet_ls.engine.job.job import Job
from stet_ls.engine.markdown import plain
from stet_ls.engine.prompt.build import TaskSpec
from stet_ls.engine.prompt.target import resolve_target
from stet_ls.engine.reply.findings_reply import LocatedFinding
from stet_ls.validators.changed_excerpt import changed_lines
from stet_ls.validators.common_ends import common_ends
from stet_ls.validators.source import Source, Span

TASK = TaskSpec(
    "Review the change that the data describe: which lines of the code as it is now go wrong, and for which input? "
    "Name what it does not do that was asked for.",
    reply_kind="findings",
)
SPEC = ActionSpec(
    "review",
    "Review",
    "Review a change.",
    menu="",
    menu_plain="",
    kind="",
    offered=OfferedWhen.INVOKED,
    llm_generated=False,
    role="reviewer",
)


async def _not_run_alone(job: Job) -> Answer:
    return refusal(job, "Review: it is part of other actions.")


ACTION = Action(SPEC, TASK, _not_run_alone)
"""What the reviewer is asked, as an action, so that its prompt is built and sealed as any other."""
_MOST_SHOWN = 6_000
"""Characters of each thing that the reviewer is shown besides the code."""


@dataclass(frozen=True, slots=True)
class ReviewSubject:
    """What is reviewed: `part` of the `after` text, which was `before`.

    `purpose` is what was asked for; `judges` is their part of the score, `judge_findings` what they found in words.
    `keeps_behavior`: what the code before does as well is not held against it.
    """

    request: Request
    before: Source
    after: Source
    part: Span
    purpose: str
    judges: ScorePart
    judge_findings: tuple[str, ...]
    keeps_behavior: bool = False


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A review with what it was made from."""

    review: Review
    opinions: ModelFindings


async def review(job: Job, subject: ReviewSubject, *, earlier: Reviewed | None = None, unasked: str = "") -> Reviewed:
    """Measures, asks and tries. `unasked` says why no reviewer is asked: then an `earlier` one's findings are tried."""
    with job.stage("measure"):
        measures = await measure_change(job, subject.request, subject.before, subject.after, runs=True)
    request = _request(subject, subject.part, _before(subject), measures)
    note, opinions = unasked, ModelFindings(note=unasked)
    if not unasked:
        try:
            opinions = await _ask(job, measures, subject)
        except StetError as error:
            note = f"no reviewer: {str(error).rstrip('.')}"
            opinions = ModelFindings(note=note)
    elif earlier is not None:
        note = ""
        opinions = await _again(job, request, subject, earlier.opinions)
    inherited = await _inherited(job, subject, opinions) if subject.keeps_behavior else frozenset()
    findings = tuple(_finding(subject.after, one, one.line in inherited) for one in opinions.placed)
    parts = parts_of(subject.judges, measures, findings, note)
    reviewer = job.usage.model if opinions.asked else ""
    made = Review(parts, findings, opinions.dropped, note or opinions.note, reviewer, unread=opinions.unread)
    return Reviewed(made, opinions)


async def _ask(job: Job, measures: ChangeMeasures, subject: ReviewSubject) -> ModelFindings:
    """What the reviewer finds, part by part where the change is too large for one call."""
    limit = job.prompt_budget() // 2
    whole = _request(subject, subject.part, _before(subject), measures)

    def fits(part: Span) -> bool:
        try:
            resolve_target(replace(whole, selection=Selection(part)), limit_tokens=limit)
        except UsageError:
            return False
        return True

    if fits(subject.part):
        return await _ask_about(job, whole, subject.part)
    parts = await asyncio.to_thread(list, change_parts(subject.before, subject.after, fits))
    found: list[ModelFindings] = []
    for part in parts:
        if found and not job.may_ask_again():
            break
        span = part.span(subject.after)
        found.append(await _ask_about(job, _request(subject, span, part.before, measures), span))
    seen = together(found)
    return replace(seen, unread=len(parts) - len(found))


async def _ask_about(job: Job, request: Request, part: Span) -> ModelFindings:
    narrowed = job.about(request)
    with job.stage("context"):
        prompt = (await asyncio.to_thread(build_job_prompt, narrowed, ACTION)).prompt
    return await ask_about(job, request, prompt, part, stage=Stage("review", "a reviewer reads the code"))


def _request(subject: ReviewSubject, part: Span, before: str, measures: ChangeMeasures) -> Request:
    """A request about a part of the text after, with the rest as context, which a prompt shows as data."""
    context: Mapping[str, str] = {
        "what was asked for": subject.purpose,
        "the code before the change": before,
        "what the judges found": "\n".join(subject.judge_findings),
        "what tools measured": "\n".join(measures.lines()),
    }
    return replace(
        subject.request,
        action=SPEC.name,
        source=subject.after,
        selection=Selection(part),
        instruction="",
        constraints=(),
        diagnostics=(),
        context={name: text[:_MOST_SHOWN] for name, text in context.items() if text.strip()},
    )


def _before(subject: ReviewSubject) -> str:
    """The lines before that the change replaced, with those between them."""
    old, new = subject.before.text.splitlines(), subject.after.text.splitlines()
    head, tail = common_ends(old, new)
    return "\n".join(old[head : len(old) - tail])


async def _again(job: Job, request: Request, subject: ReviewSubject, earlier: ModelFindings) -> ModelFindings:
    """Earlier findings in another text. Those whose line is gone are tried again if a run confirmed them."""
    first, last = (subject.after.line_of(at) for at in (subject.part.start, subject.part.end))
    there = {"".join(subject.after.line_text(line).split()): line for line in range(first, last + 1)}
    kept: list[LocatedFinding] = []
    gone: set[int] = set()
    for one in earlier.placed:
        said = one.said or one.opinion
        line = next((at for text, at in there.items() if "".join(said.quote.split()) in text), None)
        if line is None and not one.confirmed:
            continue
        if line is None:
            gone.add(len(kept))
        kept.append(LocatedFinding(first if line is None else line, said))
    with job.stage("judge"):
        tried = await check_claims(job, request, kept) if kept else []
    return replace(earlier, placed=tuple(one for at, one in enumerate(tried) if one.confirmed or at not in gone))


async def _inherited(job: Job, subject: ReviewSubject, opinions: ModelFindings) -> frozenset[int]:
    """The lines of confirmed findings that are as true of the code before."""
    confirmed = [one for one in opinions.placed if one.confirmed]
    if not confirmed:
        return frozenset()
    request = replace(subject.request, source=subject.before)
    most = subject.before.line_count - 1
    at = min(subject.before.line_of(min(subject.part.start, len(subject.before.data))), most)
    moved = [LocatedFinding(at, one.said or one.opinion) for one in confirmed]
    tried = await check_claims(job, request, moved)
    return frozenset(one.line for one, old in zip(confirmed, tried, strict=True) if old.confirmed)


def part_of_lines(before: Source, after: Source) -> Span:
    """The lines that differ, as one span of the text after."""
    lines = sorted(changed_lines(before.text.splitlines(), after.text.splitlines()))
    first, last = (lines[0] - 1, lines[-1] - 1) if lines else (0, 0)
    most = after.line_count - 1
    return Span(after.starts[min(first, most)], after.line_span(min(last, most)).end)


def _finding(source: Source, one: LocatedFinding, inherited: bool) -> ReviewFinding:
    words = plain(one.opinion.witness) + (" (as before the change)" if inherited else "")
    quote = source.line_text(one.line).strip()
    return ReviewFinding(one.line + 1, quote, one.opinion.kind, words, one.confirmed, one.refuted, inherited)

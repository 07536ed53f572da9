"""The reviewer in a job: its findings on the chosen candidate drive at most two refinements, each judged again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from stet_ls.engine.actions.action import JobPrompt
from stet_ls.engine.actions.reviewing.report import attachment
from stet_ls.engine.actions.reviewing.review import Reviewed, ReviewSubject, part_of_lines, review
from stet_ls.engine.actions.reviewing.score import SEVERE, judged_by
from stet_ls.engine.actions.rewriting.rewrite import FittedReply
from stet_ls.engine.api.budget import Budget
from stet_ls.engine.api.events import JudgeFinished, JudgeStarted, Stage
from stet_ls.engine.api.evidence import Check, Evidence, Ruling
from stet_ls.engine.api.review import Review, ReviewFinding
from stet_ls.engine.api.summary import phrase
from stet_ls.engine.errors import ModelError, StetError
from stet_ls.engine.job.job import Job
from stet_ls.engine.judges.attachments import without_secrets
from stet_ls.engine.judges.case import NamedJudge
from stet_ls.engine.loop import Proposal, Reader, UnusableReply, judge_reply
from stet_ls.engine.privacy.placeholders import hide_secrets
from stet_ls.engine.prompt.build import refine
from stet_ls.engine.prompt.fence import code_fence
from stet_ls.engine.self_consistency import is_proven

MOST = 2
"""Refinements of one candidate."""
_FOR_TESTS = 2
"""Calls that are left to tests from the specification and the repair they may lead to."""
_REVIEWED_AT = {"off": (), "thorough": (Budget.THOROUGH,), "task": (Budget.THOROUGH, Budget.TASK)}
_RANK = {Ruling.FAIL: 0, Ruling.SKIPPED: 1, Ruling.UNKNOWN: 1, Ruling.PASS: 2}


async def review_and_refine(
    job: Job,
    about: JobPrompt,
    read: Reader[FittedReply],
    judges: Sequence[NamedJudge],
    first: Proposal[FittedReply],
    size: int,
) -> Proposal[FittedReply]:
    """The candidate or a refinement of it that no judge likes less, with the review as evidence.

    Unchanged if the budget or the setting `checks.review` asks for no reviewer, or a judge already refuted it.
    """
    wanted = job.request.budget in _REVIEWED_AT[job.settings.checks.review] and job.settings.checks.validation
    if not wanted or not first.offerable or first.refuted_by is not None:
        return first
    kept_for_tests = _FOR_TESTS if job.request.spec.fixes and not is_proven(job, first) else 0
    job.reserved += kept_for_tests
    try:
        if why := job.call_limit_reason():
            job.usage.warn(f"No review: {why}")
            return first
        job.on_event(JudgeStarted(Check.REVIEW))
        return await _Refining(job, about, read, judges, size).run(first)
    finally:
        job.reserved -= kept_for_tests


@dataclass
class _Refining:
    """The reviews of one job's candidates. `tried` and `kept` count refinements."""

    job: Job
    about: JobPrompt
    read: Reader[FittedReply]
    judges: Sequence[NamedJudge]
    size: int
    tried: int = 0
    kept: int = 0

    async def run(self, first: Proposal[FittedReply]) -> Proposal[FittedReply]:
        best, seen = first, await review(self.job, self._subject(first))
        while self.tried < MOST and (remarks := actionable(seen.review)) and not self.job.call_limit_reason():
            self.tried += 1
            made = await self._refined(best, remarks)
            if isinstance(made, str):
                self.job.usage.warn(made)
                break
            unasked = self.job.call_limit_reason()
            again = await review(self.job, self._subject(made), earlier=seen, unasked=unasked)
            if worse := _worse(best, seen.review, made, again.review):
                self.job.usage.warn(f"A refinement was dropped: {worse}")
                break
            best, seen = made, again
            self.kept += 1
        return self._with_evidence(best, seen)

    def _subject(self, proposal: Proposal[FittedReply]) -> ReviewSubject:
        case, secrets = proposal.draft.case, self.about.prompt.secrets
        judge_findings = tuple(hide_secrets(phrase(each), secrets) for each in proposal.evidence if phrase(each))
        judged, keeps = judged_by(proposal.evidence), self.job.request.spec.preserves_behavior
        part = part_of_lines(case.before, case.after)
        return ReviewSubject(
            self.job.request, case.before, case.after, part, self.about.instruction_text, judged, judge_findings, keeps
        )

    async def _refined(
        self, best: Proposal[FittedReply], remarks: Sequence[ReviewFinding]
    ) -> Proposal[FittedReply] | str:
        code, secrets = best.draft.content.fitted.code, self.about.prompt.secrets
        fence = code_fence(code)
        reply = f"CODE:\n{fence}{self.job.request.language}\n{code.rstrip()}\n{fence}"
        words = "\n".join(f"- `{each.quote}` | {each.kind} | {each.words}" for each in remarks)
        try:
            prompt = refine(self.about.prompt, reply, hide_secrets(words, secrets))
            completion = await self.job.ask(
                prompt, temperature=0.1, max_tokens=self.size, stage=Stage("repair", "as the reviewer says")
            )
        except (ModelError, StetError) as error:
            return f"A refinement failed: {error}"
        with self.job.stage("judge"):
            made = await judge_reply(self.job, completion, self.read, self.judges, secrets)
        if isinstance(made, UnusableReply):
            return f"A refinement was dropped: {made.problem}"
        if made.draft.case.after.text.split() == best.draft.case.after.text.split():
            return "The model keeps its code after the review"
        return made

    def _with_evidence(self, best: Proposal[FittedReply], seen: Reviewed) -> Proposal[FittedReply]:
        found = replace(seen.review, tried=self.tried, kept=self.kept)
        item = without_secrets(evidence_of(found), self.about.prompt.secrets)
        self.job.usage.review = found
        self.job.on_event(JudgeFinished(item))
        return replace(best, evidence=(*best.evidence, item))


def actionable(found: Review) -> tuple[ReviewFinding, ...]:
    """The findings that are worth a refinement: what a run confirmed, else what may be wrong; never taste alone."""
    confirmed = tuple(each for each in found.counted if each.confirmed)
    return confirmed or tuple(each for each in found.counted if each.kind in SEVERE)


def evidence_of(found: Review) -> Evidence:
    """The review as evidence. It refutes nothing: a reviewer is a model."""
    own = found.counted
    verdict = Ruling.UNKNOWN if any(each.confirmed or each.kind in SEVERE for each in own) else Ruling.PASS
    if not found.reviewer:
        verdict = Ruling.UNKNOWN
    first = f"; line {own[0].line}: {own[0].words}" if own else f"; {found.note}" if found.note else ""
    kept = f"; {found.kept} of {found.tried} refinements kept" if found.tried else ""
    detail = f"review {found.score} of 100{first}{kept}"
    return Evidence(Check.REVIEW, verdict, detail, count=len(own), attachments=(attachment(found),))


def _worse(best: Proposal[FittedReply], was: Review, made: Proposal[FittedReply], found: Review) -> str:
    """Why a refinement is worse than what it refines, as text; "" if it is not."""
    if made.refuted_by is not None or not made.offerable:
        refuted = made.refuted_by or next((e for e in made.evidence if e.verdict is Ruling.FAIL), None)
        return refuted.detail if refuted else "it changes nothing"
    ruled = {each.label: each for each in made.evidence}
    for each in best.evidence:
        new = ruled.get(each.label)
        if new is not None and each.check is not Check.AGREEMENT and _RANK[new.verdict] < _RANK[each.verdict]:
            return f"{each.label}: {new.detail or new.verdict} (before: {each.verdict})"
    lost = sum(each.confirmed for each in found.counted) - sum(each.confirmed for each in was.counted)
    if lost > 0:
        return "a run confirms more findings than before"
    if any(each.confirmed for each in was.counted) and lost == 0 and any(each.confirmed for each in found.counted):
        return "a run still confirms what the reviewer found"
    return f"its score is {found.score}, before it was {was.score}" if found.score < was.score else ""

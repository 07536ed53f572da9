"""The loop that all actions share: ask, read, judge, repair, until there is no concrete feedback left."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Generic, TypeVar

from stet_ls.engine.api.budget import Budget
from stet_ls.engine.api.events import JudgeFinished, JudgeStarted
from stet_ls.engine.api.evidence import CHECKS, PROVING, Check, Evidence, Ruling
from stet_ls.engine.errors import LimitError, ModelError
from stet_ls.engine.job.example_calls import example_calls
from stet_ls.engine.job.job import Job
from stet_ls.engine.judges.attachments import without_secrets
from stet_ls.engine.judges.case import Case, NamedJudge, timed
from stet_ls.engine.model.chat import Completion
from stet_ls.engine.model.endpoint.faults import EndpointFailure, reason
from stet_ls.engine.plurals import plural
from stet_ls.engine.privacy.placeholders import hide_secrets
from stet_ls.engine.privacy.redact import restore
from stet_ls.engine.prompt.build import Prompt, RejectionReason, repair
from stet_ls.engine.reply.parsing.reply_spec import ENDLESS, NO_CODE, ONLY_REASONED, STOPPED

Content = TypeVar("Content")


@dataclass(frozen=True, slots=True)
class Draft(Generic[Content]):
    """What was read from a reply, and the document that contains it. `truncated`: the reply is incomplete."""

    content: Content
    case: Case
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class Proposal(Generic[Content]):
    """A draft with its evidence."""

    draft: Draft[Content]
    evidence: tuple[Evidence, ...]

    @property
    def refuted_by(self) -> Evidence | None:
        """The first trusted evidence against it."""
        return next(filter(_refutes, self.evidence), None)

    @property
    def offerable(self) -> bool:
        """False for what is never offered: a text that does not parse, or no change."""
        return not any(item.verdict is Ruling.FAIL and CHECKS[item.check].blocks_offer for item in self.evidence)


@dataclass(frozen=True, slots=True)
class UnusableReply:
    """A reply that cannot be used. `problem` is one sentence, for the model and for the user.

    `endless`: it was stopped because it did not end, so that a model that reads it again would continue it.
    """

    problem: str
    endless: bool = False


Reader = Callable[[Completion], Awaitable[Draft[Content] | UnusableReply]]
"""Turns a reply, with the user's values restored, into a draft, or says why it cannot."""

_QUOTED = 80
_RETRY_TEMPERATURE = 0.7
"""A model that gave nothing or nothing new repeats itself at a low temperature."""


async def propose(
    job: Job,
    prompt: Prompt,
    read: Reader[Content],
    judges: Sequence[NamedJudge],
    *,
    temperature: float,
    max_tokens: int,
) -> Proposal[Content] | UnusableReply:
    """The best candidate within the job's budget, with its evidence; UnusableReply if no reply held any.

    A further call is made only with concrete feedback: the reply held no code, or a trusted judge refuted the
    candidate. A reply that did not end is no answer: another sample is drawn. Raises ModelError if the first call
    fails, LimitError if it is not allowed; later failures keep the result so far.
    """
    best: Proposal[Content] | UnusableReply | None = None
    drawn = temperature
    if judges and job.settings.checks.validation and job.request.budget is Budget.QUICK:
        job.look_for_runtime()  # this budget does not wait for it later
    for attempt in count():
        if attempt and (reason := _no_repair(job, attempt - 1)):
            job.usage.warnings.append(f"No {'further ' if attempt > 1 else ''}repair: {reason}.")
            break
        try:
            reply = await job.ask(prompt, temperature=drawn, max_tokens=max_tokens)
        except (ModelError, LimitError) as error:
            if best is None:
                raise
            job.usage.warnings.append(f"A repair failed: {error}")
            break
        with job.stage("judge"):
            result = await judge_reply(job, reply, read, judges, prompt.secrets)
        # Any proposal beats none, an offerable one others, fewer failures win, then the earlier.
        best = result if best is None or _rank(result) > _rank(best) else best
        problem = _complaint(result)
        if problem is None:
            break
        warmer = max(temperature, _RETRY_TEMPERATURE)
        if _is_endless(result) or (attempt == 0 and _needs_fresh_sample(job, result)):
            drawn = warmer
            continue
        prompt = repair(prompt, reply.text, problem)
        drawn = warmer if _needs_another_answer(job, result) else temperature
    assert best is not None
    return best


async def judge_reply(
    job: Job, reply: Completion, read: Reader[Content], judges: Sequence[NamedJudge], secrets: Mapping[str, str]
) -> Proposal[Content] | UnusableReply:
    """The judged content of a reply. No message about it quotes a value that was hidden from the model."""
    if reply.runaway:
        return UnusableReply(ENDLESS, endless=True)
    draft = await read(replace(reply, text=restore(reply.text, secrets)))
    if isinstance(draft, UnusableReply):
        problem = _with_cause(draft.problem, reply)
        return UnusableReply(hide_secrets(problem, secrets))
    result = await judge_draft(job, draft, judges, secrets, asks=True)
    is_proven = isinstance(result, Proposal) and _confirmed(result.evidence)
    return UnusableReply(ONLY_REASONED) if judges and reply.is_thought and not is_proven else result


async def judge_draft(
    job: Job, draft: Draft[Content], judges: Sequence[NamedJudge], secrets: Mapping[str, str], *, asks: bool = False
) -> Proposal[Content] | UnusableReply:
    """The draft with its evidence, wherever it comes from. `asks`: a model may be asked for inputs of a comparison."""
    if judges and not job.settings.checks.validation:
        return Proposal(draft, (Evidence(Check.SYNTAX, Ruling.SKIPPED, "the setting `checks.validation` is off"),))
    case = draft.case
    if judges:
        case = replace(case, runtime=await job.runtime_for_judges(case.before.text, case.after.text))
    evidence: list[Evidence] = []
    for judge in judges:
        job.on_event(JudgeStarted(judge.check))
        try:
            item = without_secrets(await timed(judge, case), secrets)
            if asks and item.missing is not None and not any(map(_refutes, evidence)):
                item = await _with_example_calls(job, judge, case, item, secrets)
        except RecursionError:  # content that no judge could check is never offered
            return UnusableReply("The code is nested too deeply to check.")
        job.on_event(JudgeFinished(item))
        evidence.append(item)
        if item.verdict is Ruling.FAIL and CHECKS[item.check].blocks_offer:
            break  # the other judges need a change that parses
    return Proposal(draft, tuple(evidence))


async def _with_example_calls(
    job: Job, judge: NamedJudge, case: Case, item: Evidence, secrets: Mapping[str, str]
) -> Evidence:
    """The judge's evidence with inputs that a model names; the `item` as it is, if none does."""
    assert item.missing is not None
    reply = await example_calls(job, item.missing)
    if not reply or case.runtime is None:
        return item
    fresh = await job.runtime_for_judges()
    until = case.runtime.until if fresh is None else fresh.until
    again = replace(case, suggested=reply, runtime=replace(case.runtime, until=until))
    found = without_secrets(await timed(judge, again), secrets)
    return replace(found, seconds=item.seconds + found.seconds)


def _refutes(item: Evidence) -> bool:
    return item.verdict is Ruling.FAIL and item.trusted


def _confirmed(evidence: Sequence[Evidence]) -> bool:
    """True if a judge ran the code and it passed."""
    return any(item.check in PROVING and item.trusted and item.verdict is Ruling.PASS for item in evidence)


def _is_endless(result: Proposal[Content] | UnusableReply) -> bool:
    return isinstance(result, UnusableReply) and result.endless


def _needs_another_answer(job: Job, result: Proposal[Content] | UnusableReply) -> bool:
    """True if the model would repeat itself at a low temperature: it gave nothing, nothing new, or is not a strong one.

    A strong model follows the feedback; a smaller one gives the same answer again.
    """
    if isinstance(result, UnusableReply) or job.profile.tier == "mid":
        return True
    return any(each.check is Check.NOOP for each in (result.refuted_by,) if each)


def _needs_fresh_sample(job: Job, result: Proposal[Content] | UnusableReply) -> bool:
    """True for a tiny model whose code ran and was wrong: a new try helps it more than feedback (aider's runs)."""
    refuted = None if isinstance(result, UnusableReply) else result.refuted_by
    return job.profile.tier == "tiny" and refuted is not None and refuted.check in PROVING


def _no_repair(job: Job, repairs: int) -> str:
    """Why no repair is made after so many, as text; "" if one may be."""
    checks = job.settings.checks
    if not checks.auto_fix:
        return "the setting `checks.auto_fix` is off"
    wanted = job.profile.repairs if checks.fix_attempts is None else checks.fix_attempts
    if repairs >= wanted:
        if checks.fix_attempts is not None:
            return f"the setting `checks.fix_attempts` allows at most {wanted}"
        most = plural(wanted, "repair")
        return f"limit for this model reached ({most}). Raise the setting `checks.fix_attempts` to allow more"
    return job.call_limit_reason()


def _with_cause(problem: str, reply: Completion) -> str:
    """The problem of a reply, and the endpoint's part in it."""
    if reply.fault is not None and problem in _BROKEN_OFF:
        return f"The reply stopped {_BROKEN_OFF[problem]}: {reason(EndpointFailure(reply.fault), 'the endpoint')}."
    if problem != NO_CODE:
        return problem
    line = "".join(each for each in " ".join(reply.text.split()) if each.isprintable())  # it often says why
    return problem + (f' It begins: "{line[:_QUOTED]}{"…" if len(line) > _QUOTED else ""}"' if line else "")


_BROKEN_OFF = {NO_CODE: "before any code", STOPPED: "within the code"}


def _complaint(result: Proposal[Content] | UnusableReply) -> RejectionReason | None:
    """The next feedback for the model, or None if there is nothing concrete."""
    if isinstance(result, UnusableReply):
        return RejectionReason.of(result.problem, by="reply")
    refuted = result.refuted_by
    if refuted is None:
        return None
    # A judge of another package may fail a candidate without a detail.
    return RejectionReason.of(f"{refuted.label}: {refuted.detail}" if refuted.detail.strip() else "", by=refuted.label)


def _rank(result: Proposal[Content] | UnusableReply) -> tuple[int, int, int]:
    if isinstance(result, UnusableReply):
        return (0, 0, 0)
    failures = sum(item.verdict is Ruling.FAIL for item in result.evidence)
    return (1, int(result.offerable), -failures)

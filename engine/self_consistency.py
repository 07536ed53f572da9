"""Several replies instead of one: if nothing can prove a candidate, agreement among samples counts.

A small model is right more often than any one of its replies shows, and it seldom makes the same error twice. More
samples are drawn only while none is proven, the model's profile benefits, and the budget lasts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from stet_ls.engine.api.budget import Budget
from stet_ls.engine.api.events import JudgeFinished, JudgeStarted
from stet_ls.engine.api.evidence import PROVING, Check, Evidence, Ruling
from stet_ls.engine.errors import LimitError, ModelError
from stet_ls.engine.execution.harness_run import NotRunnable
from stet_ls.engine.job.job import Job
from stet_ls.engine.judges.agreement import Agreement, group_by_behavior
from stet_ls.engine.judges.case import Case, NamedJudge
from stet_ls.engine.loop import Proposal, Reader, UnusableReply, judge_reply
from stet_ls.engine.prompt.build import Prompt

Content = TypeVar("Content")

TEMPERATURE = 0.8
"""Of every sample but the first: colder ones repeat it."""

_MANY_EXAMPLES = 3
"""So many examples miss less: of a small model's 18 answers that passed one example, 5 were wrong."""
_ENOUGH = 2
"""If so many of the first samples agree, no more are drawn: the others would hardly outvote them."""


async def most_consistent(
    job: Job,
    prompt: Prompt,
    read: Reader[Content],
    judges: Sequence[NamedJudge],
    first: Proposal[Content],
    *,
    max_tokens: int,
) -> Proposal[Content]:
    """The proposal whose behavior most samples share, with that as evidence; `first` if more samples do not help."""
    refuted = first.refuted_by is not None or not first.offerable
    wanted = job.profile.samples > 1 and job.settings.checks.validation and job.may_ask_again()
    if not wanted or refuted or is_proven(job, first):
        return first
    drawn = [first]
    found: Agreement | NotRunnable = await group_by_behavior([await _case(job, first)])
    while not isinstance(found, NotRunnable) and len(drawn) < job.profile.samples and job.may_ask_again():
        try:
            reply = await job.ask(prompt, temperature=TEMPERATURE, max_tokens=max_tokens)
        except (ModelError, LimitError) as error:
            job.usage.warnings.append(f"No further sample was drawn: {error}")
            break
        with job.stage("judge"):
            result = await judge_reply(job, reply, read, judges, prompt.secrets)
            if isinstance(result, UnusableReply) or not result.offerable or result.refuted_by is not None:
                continue
            if is_proven(job, result):
                return result
            drawn.append(result)
            job.on_event(JudgeStarted(Check.AGREEMENT))
            found = await group_by_behavior([await _case(job, each) for each in drawn])
        if isinstance(found, Agreement) and found.distinct == _ENOUGH and len(found.groups) == 1:
            break
    return _elected(job, drawn, found)


def is_proven(job: Job, proposal: Proposal[Content]) -> bool:
    """True if a trusted judge ran it and it passed; a few examples alone are no proof."""
    is_small_budget = job.request.budget in (Budget.QUICK, Budget.STANDARD)
    passed = (item for item in proposal.evidence if item.trusted and item.verdict is Ruling.PASS)
    return any(
        item.check in PROVING
        and (item.check is not Check.DOCTEST or (is_small_budget and item.count >= _MANY_EXAMPLES))
        for item in passed
    )


async def _case(job: Job, proposal: Proposal[Content]) -> Case:
    case = proposal.draft.case
    return replace(case, runtime=await job.runtime(case.before.text, case.after.text))


def _elected(job: Job, drawn: Sequence[Proposal[Content]], found: Agreement | NotRunnable) -> Proposal[Content]:
    """The first of the largest group that changes something; without such a group, the one most like the others.

    The first has the lowest temperature: it is right more often, also on inputs that were not drawn.
    """
    if len(drawn) == 1:
        return drawn[0]
    if isinstance(found, NotRunnable):
        evidence = Evidence(Check.AGREEMENT, Ruling.SKIPPED, f"the model's answers were not compared: {found.reason}")
        chosen = drawn[0]
    else:
        evidence = found.evidence()
        others = found.groups[1:] if found.changes_nothing else ()
        group = (others or found.groups)[0]
        chosen = drawn[group[0] if len(group) > 1 or others else found.nearest]
    job.on_event(JudgeFinished(evidence))
    return replace(chosen, evidence=(*chosen.evidence, evidence))

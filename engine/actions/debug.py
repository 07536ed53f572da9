"""Debug: the smallest change that fixes what a diagnostic, an instruction or the code itself shows to be wrong.

def total(prices):                       def total(prices):
    sum = 0                                  sum = 0
    for price in price:          =>          for price in prices:
        sum += price                             sum += price
    return sum                               return sum
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

from stet_ls.engine.actions.action import Action
from stet_ls.engine.actions.generate_test_fix import fix_loop as thorough
from stet_ls.engine.actions.repair_search.fix import FoundRepairs, find_repairs, repairs_like_reply
from stet_ls.engine.actions.reviewing.refine import review_and_refine
from stet_ls.engine.actions.rewriting import change_kind, rewrite
from stet_ls.engine.actions.rewriting.effect import EFFECT
from stet_ls.engine.actions.rewriting.reproduce import Reproduction, reproduce
from stet_ls.engine.api.actions import ACTIONS
from stet_ls.engine.api.answer import Answer
from stet_ls.engine.errors import ModelError
from stet_ls.engine.job.job import Job
from stet_ls.engine.judges.case import lint_findings
from stet_ls.engine.prompt.build import TaskSpec
from stet_ls.engine.prompt.instruction import find_instruction
from stet_ls.engine.prompt.target import resolve_target
from stet_ls.validators.source import Splice

TASK = TaskSpec(
    goal="Find the bug in the code and fix it.",
    reply_kind="unit",
    keeps_header=True,
    rules=(
        "Change only what is needed to fix the bug; leave everything else as it is.",
        "Keep the name, the parameters and the docstring.",
    ),
)

SAME_AS_REPLY = "the model's reply behaves the same"
"""Evidence: the model agrees with one of several fixes."""
NOT_REPRODUCED = "Bug not reproduced: no test, example, diagnostic or instruction shows it."
"""Message: a fix of a bug that was not reproduced is a guess."""

REWRITE = rewrite.Rewrite(
    done="Fixed",
    attempted="Tried to fix",
    samples=True,
    after_choice=(review_and_refine, thorough.generate_test_fix),
    kind_of=change_kind.bug_kind,
)


async def run(job: Job) -> Answer:
    """Offers a fix of the target, with the tests and examples that failed before it and pass after it.

    What can be reproduced is searched first; a model is asked if that finds nothing, or fixes that behave differently.
    """
    with job.stage("reproduce"):
        target = await asyncio.to_thread(resolve_target, job.request)
        instruction = await asyncio.to_thread(find_instruction, job.request, target)
        words = instruction.text if instruction is not None else ""
        seen = await reproduce(job, target, words)
    if not seen.found and not words:
        job.usage.warnings.append(NOT_REPRODUCED)
    if seen.holds:
        job.usage.warnings.append("The code already behaves as the instruction says.")
    with job.stage("search"):
        searched = await find_repairs(job, target, seen)
    known, unfound = (None, searched) if isinstance(searched, str) else (searched, "")
    if unfound:
        job.usage.warnings.append(unfound)
    if known is not None and known.is_clear and (answer := await _offered(job, seen, known)).success:
        return answer
    asked = replace(job, request=seen.request)
    if known is not None:  # the model only chooses among them: what it repairs would take longer than it tells
        asked = replace(asked, profile=replace(job.profile, samples=1, repairs=0))
    how = REWRITE if seen.found else replace(REWRITE, judges=(EFFECT,))
    try:
        answer = await rewrite.run(asked, ACTION, how, user_examples=seen.user_examples, seen=(seen.evidence,))
        if answer.success and await asyncio.to_thread(_is_resolved, job, answer):
            answer = replace(answer, metadata=replace(answer.metadata, is_resolved=True))
    except ModelError as error:
        found = await _offered(job, seen, known) if known is not None else None
        if found is not None and found.success:
            return found
        error.args = (f"{unfound} {error}".strip(),)
        raise
    if known is None:
        return answer
    if not answer.success or answer.refuted:
        found = await _offered(job, seen, known)
        return found if found.success else answer
    splices = [Splice(edit.span, edit.new_text) for edit in answer.edits]
    agreed = await repairs_like_reply(known, job.request.source.splice(splices))
    if agreed is None:
        return answer
    found = await _offered(job, seen, agreed, SAME_AS_REPLY)
    return found if found.success else answer


def _is_resolved(job: Job, answer: Answer) -> bool:
    """Whether the checkers reported all the given problems before the edit, and report none of them after it."""
    request = job.request
    asked = {each.message for each in request.diagnostics}
    after = request.source.splice(
        Splice(edit.span, edit.new_text) for edit in answer.edits if edit.base == request.source
    )
    before, left = (
        {each.message for each in lint_findings(text, request.language, request.path, job.tools) or ()}
        for text in (request.source, after)
    )
    return bool(asked) and asked <= before and not asked & left


async def _offered(job: Job, seen: Reproduction, known: FoundRepairs, like: str = "") -> Answer:
    """The best of the repairs as an answer, judged like a model's; a refusal if a judge refuted it."""
    warned = list(job.usage.warnings)
    evidence = (seen.evidence, known.evidence(like))
    own = replace(job, request=seen.request)
    answer = await rewrite.offer(
        own, ACTION, REWRITE, known.best.splices, user_examples=seen.user_examples, seen=evidence
    )
    if answer.success and not answer.refuted:
        job.remembered = ()
        return answer
    job.usage.warnings[:] = warned
    return replace(answer, success=False)


ACTION = Action(ACTIONS["debug"], TASK, run)

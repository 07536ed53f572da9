"""Explain: what the code does in plain sentences, after the facts that tools found in it.

Examples in the text are run and show what the code returns; sentences that name or claim what it lacks are marked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from stet_ls.engine.actions.action import Action, finish_answer, refusal
from stet_ls.engine.actions.prose import prose
from stet_ls.engine.actions.prose.example_verification import run_examples
from stet_ls.engine.actions.prose.language_table import for_language as prose_language
from stet_ls.engine.actions.prose.unsupported_claims import mark_unknown
from stet_ls.engine.api.actions import ACTIONS
from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.evidence import Evidence
from stet_ls.engine.api.request import Target
from stet_ls.engine.api.summary import Summary
from stet_ls.engine.execution.language_table import for_language
from stet_ls.engine.job.job import Job
from stet_ls.engine.loop import UnusableReply
from stet_ls.engine.markdown import code_span, harmless
from stet_ls.engine.privacy.placeholders import without_values
from stet_ls.engine.prompt.build import TaskSpec
from stet_ls.validators import structure

TASK = TaskSpec(
    goal="Explain what the code does, for an engineer who reads it for the first time.",
    reply_kind="prose",
    rules=(
        "Begin with one sentence that says what it is for.",
        "Then explain how it works step by step, naming the names in the code.",
        "End with what to watch out for: errors it raises, edge cases, side effects.",
        "Say only what the code shows.",
    ),
)

_EXAMPLES = "Show up to three calls as `>>> call` lines in a code block, each with its result below it."


async def run(job: Job) -> Answer:
    """Answers with markdown: facts first, then the model's words, marked as such."""
    target = await prose.find_target(job)
    reply = await prose.ask_for_prose(job, target, ACTION)
    if isinstance(reply, UnusableReply):
        return refusal(job, f"Explain: nothing to show. {reply.problem}")
    with job.stage("judge"):
        shown = await run_examples(job, reply.text, reply.secrets)
    with job.stage("finish"):
        facts = await asyncio.to_thread(_facts, job, target)
        silent = not shown.raised and prose_language(job.request.language).is_silent(job.request.source, target.span)
        text, unknown = mark_unknown(shown.text, job.request.source.text, job.request.language, silent=silent)
        evidence = () if shown.evidence is None else (shown.evidence,)
        words = [*facts, "", text, "", f"_Explained by {job.usage.model}; {_verified(evidence, unknown)}._"]
        if reply.truncated:
            words.append("_The reply ends here._")
        answer = Answer(
            success=True,
            action=job.request.action,
            language=job.request.language,
            summary=Summary("Explained", prose.heading(job, target)),
            markdown=harmless("\n".join([f"# {prose.heading(job, target)}", "", *words])) + "\n",
            code=job.request.source.slice(target.span),
            explanation=text,
            evidence=evidence,
            guard=target.span,
        )
        return finish_answer(job, answer)


def _verified(evidence: Sequence[Evidence], unknown: int) -> str:
    """A line on which parts of the text are verified, and which are doubtful."""
    parts = ["the text is not verified", *(item.detail for item in evidence)]
    if unknown:
        marked = "sentences are" if unknown > 1 else "sentence is"
        parts.append(f"{unknown} {marked} marked: not supported by the code")
    return "; ".join(parts)


def _facts(job: Job, target: Target) -> list[str]:
    source, language = job.request.source, job.request.language
    facts = [f"- {prose.lines_of(job, target)}"]
    unit = next((u for u in structure.units(source, language) if target.name and u.qualified == target.name), None)
    if unit is not None:
        facts.append(f"- signature: {code_span(without_values(unit.signature))}")
        called = structure.calls(source, language, unit)
        if called:
            facts.append("- calls: " + ", ".join(code_span(name) for name in called[:12]))
    return facts


def _task(job: Job) -> TaskSpec:
    """The task; requests examples only if they can be run."""
    return replace(TASK, rules=(*TASK.rules, _EXAMPLES)) if for_language(job.request.language).runs_examples else TASK


ACTION = Action(ACTIONS["explain"], TASK, run, make_task=_task)

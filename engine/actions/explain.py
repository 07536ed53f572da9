"""Explain: what the code does, in words, headed by the facts that tools read off it."""

from __future__ import annotations

import asyncio

from stet_ls.engine.actions import prose
from stet_ls.engine.actions.answers import finished, refusal
from stet_ls.engine.actions.recipe import Recipe
from stet_ls.engine.job import Job
from stet_ls.engine.loop import Unusable
from stet_ls.engine.markdown import code_span, harmless
from stet_ls.engine.models import Answer, Target
from stet_ls.engine.prompt.build import Task
from stet_ls.engine.prompt.returned import without_values
from stet_ls.validators import structure

TASK = Task(
    action="explain",
    goal="Explain what the code does, for an engineer who reads it for the first time.",
    wants="prose",
    rules=(
        "Begin with one sentence that says what it is for.",
        "Then explain how it works step by step, naming the names in the code.",
        "End with what to watch out for: errors it raises, edge cases, side effects.",
        "Say only what the code shows.",
    ),
)


async def run(job: Job) -> Answer:
    """Answers with markdown: facts first, then the model's words, marked as such."""
    target = await prose.find_target(job)
    told = await prose.tell(job, target, RECIPE)
    with job.stage("finish"):
        if isinstance(told, Unusable):
            return refusal(job, f"Explain: nothing to show. {told.problem}")
        facts = await asyncio.to_thread(_facts, job, target)
        words = [*facts, "", told.text, "", f"_Explained by {job.ledger.model}; the words are not verified._"]
        if told.truncated:
            words.append("_The reply broke off here._")
        answer = Answer(
            success=True,
            action=job.request.action,
            language=job.request.language,
            message=f"Explained {prose.heading(job, target)}",
            markdown=harmless("\n".join([f"# {prose.heading(job, target)}", "", *words])) + "\n",
            code=job.request.source.slice(target.span),
            explanation=told.text,
            guard=target.span,
        )
        return finished(job, answer)


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


RECIPE = Recipe("explain", "Explain", "Explain what the code does.", TASK, run)

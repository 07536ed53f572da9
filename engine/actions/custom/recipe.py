"""A custom action as the engine runs it: a rewrite of the target, or words about it."""

from __future__ import annotations

import asyncio
import logging
from functools import partial

from stet_ls.engine.actions import prose, rewrite
from stet_ls.engine.actions.answers import finished, refusal
from stet_ls.engine.actions.custom.action import CustomAction, prepared
from stet_ls.engine.actions.recipe import Recipe
from stet_ls.engine.job import Job
from stet_ls.engine.judges.case import Case, Judge
from stet_ls.engine.loop import Unusable
from stet_ls.engine.markdown import harmless
from stet_ls.engine.models import Answer, Check, Evidence, Ruling

log = logging.getLogger(__name__)


def recipe_of(action: CustomAction) -> Recipe:
    """What the engine runs for it."""
    run = _tell if action.wants == "markdown" else _rewrite
    recipe: Recipe

    async def start(job: Job) -> Answer:
        return await run(job, action, recipe)

    recipe = Recipe(
        action.name,
        action.title,
        action.description,
        task=None,
        run=start,
        needs_instruction=action.needs_instruction,
        prepare=partial(prepared, action),
    )
    return recipe


async def _rewrite(job: Job, action: CustomAction, recipe: Recipe) -> Answer:
    own = tuple(judge for judge in action.judges if not isinstance(judge, str))
    judges = tuple(_guarded(judge, action.name) if judge in own else judge for judge in action.all_judges())
    changed_nothing = Check.DIFFERENTIAL in action.required
    return await rewrite.run(
        job,
        recipe,
        rewrite.Rewrite(
            done=f"{action.title}:",
            tried=f"{action.title}, tried:",
            judges=judges,
            temperature=action.temperature,
            required=action.required,
            formats=not changed_nothing,
        ),
    )


async def _tell(job: Job, action: CustomAction, recipe: Recipe) -> Answer:
    with job.stage("target"):
        await asyncio.to_thread(prepared, action, job)
    target = await prose.find_target(job)
    told = await prose.tell(job, target, recipe)
    with job.stage("finish"):
        if isinstance(told, Unusable):
            return refusal(job, f"{action.title}: nothing to show. {told.problem}")
        heading = prose.heading(job, target)
        words = [f"# {action.title}: {heading}", "", told.text, "", f"_By {job.ledger.model}; not verified._"]
        if told.truncated:
            words.append("_The reply broke off here._")
        return finished(
            job,
            Answer(
                success=True,
                action=job.request.action,
                language=job.request.language,
                message=f"{action.title}: {heading}",
                markdown=harmless("\n".join(words)) + "\n",
                code=job.request.source.slice(target.span),
                explanation=told.text,
                guard=target.span,
            ),
        )


def _guarded(judge: Judge, name: str) -> Judge:
    """A package's judge: one that raises, or says something else than evidence, could not tell."""

    async def ask(case: Case) -> Evidence:
        try:
            evidence = await judge(case)
            if isinstance(evidence, Evidence):
                return evidence
            problem = f"it returned {type(evidence).__name__} and no Evidence"
        except Exception as error:  # somebody else's code
            log.warning("a judge of %s failed", name, exc_info=error)
            problem = f"{type(error).__name__}: {error}"
        return Evidence(
            Check.AGREEMENT, Ruling.UNKNOWN, f"the judge of {name} could not tell ({problem})", trusted=True
        )

    return ask

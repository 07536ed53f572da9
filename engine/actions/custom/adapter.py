"""A custom action as the engine runs it: a rewrite of the target, or words about it."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from functools import partial

from stet_ls.engine.actions.action import Action
from stet_ls.engine.actions.answers import finished, refusal
from stet_ls.engine.actions.custom.custom_action import CustomAction, prepared
from stet_ls.engine.actions.prose import prose
from stet_ls.engine.actions.rewriting import rewrite
from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.evidence import Check, Evidence, Ruling
from stet_ls.engine.api.summary import Summary
from stet_ls.engine.job.job import Job
from stet_ls.engine.judges.case import Case, Judge, NamedJudge
from stet_ls.engine.loop import Unusable
from stet_ls.engine.markdown import harmless

log = logging.getLogger(__name__)


def recipe_of(action: CustomAction) -> Action:
    """What the engine runs for it."""
    run = _tell if action.wants == "markdown" else _rewrite
    recipe: Action

    async def start(job: Job) -> Answer:
        return await run(job, action, recipe)

    recipe = Action(
        action.name,
        action.title,
        action.description,
        task=None,
        run=start,
        needs_instruction=action.needs_instruction,
        make_task=partial(prepared, action),
    )
    return recipe


async def _rewrite(job: Job, action: CustomAction, recipe: Action) -> Answer:
    built_in = action.built_in_judges()
    own = (NamedJudge(Check.CUSTOM, _guarded(judge, action.judge_name(judge))) for judge in action.own_judges())
    judges = (*built_in, *own)
    changed_nothing = Check.COMMENTS in action.required
    # What no built-in judge of the action says, its own say under a name of theirs.
    given = {judge.check for judge in built_in}
    required = frozenset(check if check in given else Check.CUSTOM for check in action.required)
    return await rewrite.run(
        job,
        recipe,
        rewrite.Rewrite(
            done=f"{action.title}:",
            attempted=f"{action.title}, tried:",
            judges=judges,
            temperature=action.temperature,
            required=required,
            formats=not changed_nothing,
        ),
    )


async def _tell(job: Job, action: CustomAction, recipe: Action) -> Answer:
    with job.stage("target"):
        await asyncio.to_thread(prepared, action, job)
    target = await prose.find_target(job)
    told = await prose.ask_for_prose(job, target, recipe)
    with job.stage("finish"):
        if isinstance(told, Unusable):
            return refusal(job, f"{action.title}: nothing to show. {told.problem}")
        heading = prose.heading(job, target)
        words = [f"# {action.title}: {heading}", "", told.text, "", f"_By {job.usage.model}; not verified._"]
        if told.truncated:
            words.append("_The reply broke off here._")
        return finished(
            job,
            Answer(
                success=True,
                action=job.request.action,
                language=job.request.language,
                summary=Summary(f"{action.title}:", heading),
                markdown=harmless("\n".join(words)) + "\n",
                code=job.request.source.slice(target.span),
                explanation=told.text,
                guard=target.span,
            ),
        )


def _guarded(judge: Judge, name: str) -> Judge:
    """A package's judge, in its own name: nobody counted how often such evidence is right, so no tier is reached by it.

    One that raises, or says something else than evidence, could not tell.
    """

    async def ask(case: Case) -> Evidence:
        try:
            evidence = await judge(case)
            if isinstance(evidence, Evidence):
                return replace(evidence, check=Check.CUSTOM, name=name)
            problem = f"it returned {type(evidence).__name__} and no Evidence"
        except Exception as error:  # somebody else's code
            log.warning("a judge of %s failed", name, exc_info=error)
            problem = f"{type(error).__name__}: {error}"
        return Evidence(Check.CUSTOM, Ruling.UNKNOWN, f"it could not tell ({problem})", trusted=True, name=name)

    return ask

"""Adapts a custom action to the engine: a rewrite of the target, or text about it."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from functools import partial

from stet_ls.engine.actions.action import Action, finish_answer, refusal
from stet_ls.engine.actions.custom.custom_action import CustomAction, prepare_task
from stet_ls.engine.actions.prose import prose
from stet_ls.engine.actions.rewriting import rewrite
from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.evidence import NAMEABLE, Check, Evidence, Ruling
from stet_ls.engine.api.summary import Summary
from stet_ls.engine.job.job import Job
from stet_ls.engine.judges.case import Case, Judge, NamedJudge
from stet_ls.engine.judges.table import judge_of, judges_for
from stet_ls.engine.loop import UnusableReply
from stet_ls.engine.markdown import harmless

log = logging.getLogger(__name__)


def as_action(custom: CustomAction) -> Action:
    """The `Action` that the engine runs for a custom action."""
    run = _answer_in_words if custom.wants == "markdown" else _rewrite
    action: Action

    async def start(job: Job) -> Answer:
        return await run(job, custom, action)

    action = Action(custom.spec, None, start, make_task=partial(prepare_task, custom))
    return action


async def _rewrite(job: Job, custom: CustomAction, action: Action) -> Answer:
    named = tuple(judge_of(check) for check in NAMEABLE if check.value in custom.judges)
    own = (
        NamedJudge(Check.CUSTOM, _guarded(judge, f"{custom.name}.{getattr(judge, '__name__', 'judge')}"))
        for judge in custom.judges
        if not isinstance(judge, str)
    )
    # A required check without a built-in judge has to come from the action's own judges.
    given = {each.check for each in (*judges_for(*action.spec.judged_as), *named)}
    return await rewrite.run(
        job,
        action,
        rewrite.Rewrite(
            done=f"{custom.title}:",
            attempted=f"{custom.title}, tried:",
            temperature=custom.temperature,
            required=frozenset(check if check in given else Check.CUSTOM for check in custom.required),
            formats=Check.COMMENTS not in custom.required,
            judges=(*named, *own),
        ),
    )


async def _answer_in_words(job: Job, custom: CustomAction, action: Action) -> Answer:
    with job.stage("target"):
        await asyncio.to_thread(prepare_task, custom, job)
    target = await prose.find_target(job)
    reply = await prose.ask_for_prose(job, target, action)
    with job.stage("finish"):
        if isinstance(reply, UnusableReply):
            return refusal(job, f"{custom.title}: nothing to show. {reply.problem}")
        heading = prose.heading(job, target)
        words = [f"# {custom.title}: {heading}", "", reply.text, "", f"_By {job.usage.model}; not verified._"]
        if reply.truncated:
            words.append("_The reply ends here._")
        answer = Answer(
            success=True,
            action=job.request.action,
            language=job.request.language,
            summary=Summary(f"{custom.title}:", heading),
            markdown=harmless("\n".join(words)) + "\n",
            code=job.request.source.slice(target.span),
            explanation=reply.text,
            guard=target.span,
        )
        return finish_answer(job, answer)


def _guarded(judge: Judge, name: str) -> Judge:
    """A package's judge under its own name, without a tier. One that raises or returns no evidence is unknown."""

    async def ask(case: Case) -> Evidence:
        try:
            evidence = await judge(case)
            if isinstance(evidence, Evidence):
                return replace(evidence, check=Check.CUSTOM, name=name)
            problem = f"it returned {type(evidence).__name__} and no Evidence"
        except Exception as error:  # third-party code
            log.warning("a judge of %s failed", name, exc_info=error)
            problem = f"{type(error).__name__}: {error}"
        return Evidence(Check.CUSTOM, Ruling.UNKNOWN, f"no result ({problem})", trusted=True, name=name)

    return ask

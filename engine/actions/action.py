"""An action as the engine sees it, how its prompt is built, and what all answers have in common."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from stet_ls.engine.api.actions import ActionSpec
from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.metadata import Metadata
from stet_ls.engine.api.request import Request, Target
from stet_ls.engine.api.summary import Summary
from stet_ls.engine.errors import UsageError
from stet_ls.engine.job.job import Job
from stet_ls.engine.prompt.build import Prompt, TaskSpec, build
from stet_ls.engine.prompt.instruction import Instruction, find_instruction
from stet_ls.engine.prompt.target import resolve_target
from stet_ls.validators.languages import language


@dataclass(frozen=True, slots=True)
class Action:
    """An action that can be run."""

    spec: ActionSpec
    """Its row in the table of actions."""
    task: TaskSpec | None
    """The task for the model; None if `make_task` builds it."""
    run: Callable[[Job], Awaitable[Answer]]
    """Runs the action on a job."""
    make_task: Callable[[Job], TaskSpec] | None = None
    """Builds the task if it depends on the job, after fitting the request to the action."""


def built_in(name: str) -> Action:
    """The action for a row of `ACTIONS`: the constant `ACTION` of the module with that name."""
    action: Action = import_module(f"stet_ls.engine.actions.{name}").ACTION
    return action


@dataclass(frozen=True, slots=True)
class JobPrompt:
    """The target of a job and its prompt; `instruction_text` is all of it, the user's and a custom action's."""

    target: Target
    instruction: Instruction | None
    prompt: Prompt
    instruction_text: str = ""


def build_job_prompt(job: Job, action: Action) -> JobPrompt:
    """The first prompt of a job. Reads files: not for an event loop. Raises UsageError if there is nothing to ask."""
    task = action.task if action.make_task is None else action.make_task(job)
    request = job.request
    if task is None:
        raise UsageError(f"{action.spec.title}: this action has no prompt.")
    # A missing instruction is reported before a target that is too large: a smaller selection would not help.
    required_instruction(action, request, resolve_target(request))
    # Half of the prompt for the target: the task, its form and some context need the rest.
    target = resolve_target(request, limit_tokens=job.prompt_budget() // 2)
    instruction = required_instruction(action, request, target)
    # A task that already contains the instruction does not repeat it.
    contained = action.make_task is not None and action.spec.needs_instruction
    prompt = build(
        request,
        target,
        replace(instruction, text="") if contained and instruction is not None else instruction,
        task,
        budget_tokens=job.prompt_budget(),
        tier=job.profile.tier,
        remembered=job.remembered,
        ignore=job.settings.privacy.ignore,
        index=job.index,
        begins=job.profile.begins and job.profile.tier != "strong",
    )
    job.remembered = prompt.remembered
    words = [] if instruction is None or instruction.origin == "stub" else [instruction.text]
    words = words if request.user_words is None else [request.user_words]
    if action.make_task is not None:
        words.append(task.goal)
    return JobPrompt(target, instruction, prompt, "\n".join(words))


def required_instruction(action: Action, request: Request, target: Target) -> Instruction | None:
    """The instruction for a target. Raises UsageError if the action needs one and none is found."""
    instruction = find_instruction(request, target)
    if action.spec.needs_instruction and instruction is None:
        row = language(request.language)
        mark = (row.line_comment if row is not None else "") or "#"
        raise UsageError(
            f"{action.spec.title} needs an instruction: write a comment `{mark} stet: what you want` at the cursor, "
            "select a comment, or pass one with the command."
        )
    return instruction


def refusal(job: Job, problem: str, metadata: Metadata | None = None) -> Answer:
    """An answer that offers nothing and gives the reason in one sentence."""
    request = job.request
    summary = Summary(problem=problem)
    return finish_answer(job, Answer(False, request.action, request.language, summary, metadata=metadata or Metadata()))


def isolation(job: Job) -> Mapping[str, Any] | None:
    """The weakest sandbox in which code of the job ran so far; None if none ran."""
    return None if job.usage.isolation is None else job.usage.isolation.to_json()


def finish_answer(job: Job, answer: Answer) -> Answer:
    """The answer with the job's ledger and warnings, and the weakest sandbox in which its code ran."""
    return replace(
        answer,
        warnings=(*answer.warnings, *job.usage.warnings),
        isolation=isolation(job),
        metadata=job.metadata(answer.metadata),
    )

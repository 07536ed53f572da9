"""Task: a change in several steps, planned by the model; each step is run and judged as a separate action.

stet task "discounts may be given as a fraction too"

  plan                                     edits
  refactor | prices.py | discount | ...    one answer over all files; a step that fails ends the task, and the
  test | prices.py | discount | ...        good ones before it are offered with a word about the rest
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from stet_ls.engine.actions.action import Action, build_job_prompt, built_in, finished, refusal
from stet_ls.engine.actions.multi_file.attribution import files_with_steps, with_steps
from stet_ls.engine.actions.multi_file.chosen_parts import with_whole_evidence
from stet_ls.engine.actions.planning.task_plan import TASK, Project, TaskStep, project, read_plan
from stet_ls.engine.actions.planning.unrequested_changes import unrequested_changes
from stet_ls.engine.actions.planning.without_plan import done_without_plan
from stet_ls.engine.actions.planning.workspace_overlay import WorkspaceOverlay
from stet_ls.engine.api.actions import ACTIONS
from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.budget import Budget
from stet_ls.engine.api.events import Stage
from stet_ls.engine.api.evidence import Check, Evidence, Ruling
from stet_ls.engine.api.metadata import Metadata
from stet_ls.engine.api.request import Request
from stet_ls.engine.api.summary import Summary
from stet_ls.engine.errors import StetError
from stet_ls.engine.job.budget import CALLS
from stet_ls.engine.job.job import Job
from stet_ls.engine.judges.calibration import DEFAULT
from stet_ls.engine.judges.case import Case
from stet_ls.engine.loop import Draft, Unusable, propose
from stet_ls.engine.model.chat import Completion
from stet_ls.engine.privacy.placeholders import for_reader
from stet_ls.engine.prompt.instruction import find_instruction
from stet_ls.engine.prompt.target import resolve_target

_PLAN_TOKENS = 500
_WORST = (Ruling.FAIL, Ruling.UNKNOWN, Ruling.SKIPPED, Ruling.PASS)
_LISTING = "The files of the project and what they define"
_PLAN = "The plan of the whole task"
_BROKE_OFF = "The plan is incomplete; a few short lines are enough."


async def run(job: Job) -> Answer:
    """Plans, runs the steps in order, and offers them together."""
    request = job.request
    if request.path is None:
        return refusal(job, "Task: save the document first; a task needs a project.")
    if request.budget is Budget.STANDARD:
        job = replace(job, request=replace(request, budget=request.spec.standard_budget))
    if (answer := await done_without_plan(job)) is not None:
        return answer
    with job.stage("context"):
        about = await asyncio.to_thread(project, request, job.settings.privacy.ignore)
    plan = await _plan(job, about)
    if isinstance(plan, Unusable):
        return refusal(job, f"Task: no plan. {plan.problem}")
    job.on_event(Stage("planned", "; ".join(f"{number}. {step}" for number, step in enumerate(plan, 1))))
    overlay = await asyncio.to_thread(_overlay, request, about)
    done: dict[int, Answer] = {}
    skipped: dict[int, str] = {}
    problem = ""
    for number, step in enumerate(plan, 1):
        if job.usage.calls >= CALLS[job.request.budget]:
            problem = f"the budget {job.request.budget} of {CALLS[job.request.budget]} model calls is used up"
            break
        job.on_event(Stage("step", f"{number} of {len(plan)}: {step}"))
        try:
            step_job = replace(
                job, request=_within(plan, number, overlay.request_for(step)), reserved=len(plan) - number
            )
            answer = await built_in(step.action).run(step_job)
        except StetError as error:
            if not done:
                raise
            problem = str(error)
            break
        if answer.unneeded:
            skipped[number] = answer.message
            continue
        if not answer.success:
            problem = answer.message
            break
        overlay.apply_answer(answer)
        done[number] = answer
    answer = _answer(job, plan, _Course(done, skipped, problem), overlay)
    return await with_whole_evidence(job, answer)


@dataclass(frozen=True, slots=True)
class _Course:
    """The results of the steps by number: answers, reasons of skipped ones; `problem` is what ended the task, or ""."""

    done: Mapping[int, Answer]
    skipped: Mapping[int, str]
    problem: str

    @property
    def ended(self) -> int:
        """The number of the step at which the task ended."""
        return max([0, *self.done, *self.skipped]) + 1


def _within(plan: Sequence[TaskStep], number: int, request: Request) -> Request:
    """The request of a step, with the whole plan as context, so that it leaves later steps alone."""
    if len(plan) == 1:
        return request
    lines = [f"{at}. {step}: {step.instruction}" for at, step in enumerate(plan, 1)]
    instruction = "\n".join([*lines, f"Now do step {number} alone."])
    return replace(request, context={**request.context, _PLAN: instruction})


def _overlay(request: Request, about: Project) -> WorkspaceOverlay:
    """The workspace before the first step, without the comment that requested the task."""
    instruction = find_instruction(request, resolve_target(request))
    overlay = WorkspaceOverlay(request, about, instruction.text if instruction is not None else "")
    if instruction is not None and instruction.replaces is not None:
        overlay.take_out(instruction.replaces)
    return overlay


async def _plan(job: Job, about: Project) -> tuple[TaskStep, ...] | Unusable:
    """The steps that the model proposes."""
    request = job.request
    listing = await asyncio.to_thread(about.listing, request.language)
    asking = replace(job, request=replace(request, context={**request.context, _LISTING: listing}))
    with job.stage("context"):
        prompt = (await asyncio.to_thread(build_job_prompt, asking, ACTION)).prompt
    case = Case(request.action, request.language, request.path, request.source, request.source, tools=job.tools)

    async def read(completion: Completion) -> Draft[tuple[TaskStep, ...]] | Unusable:
        if completion.finish != "stop":
            return Unusable(_BROKE_OFF)
        plan = read_plan(for_reader(completion.text, prompt.secrets), about, request.language)
        return plan if isinstance(plan, Unusable) else Draft(plan, case)

    proposal = await propose(asking, prompt, read, (), temperature=0.1, max_tokens=_PLAN_TOKENS)
    return proposal if isinstance(proposal, Unusable) else proposal.draft.content


def _answer(job: Job, plan: Sequence[TaskStep], course: _Course, overlay: WorkspaceOverlay) -> Answer:
    report = "\n".join(_line(number, step, course) for number, step in enumerate(plan, 1))
    done, problem = tuple(course.done.values()), course.problem
    if not done:
        at = min(course.ended, len(plan)) if problem else 1
        which = "first step" if at == 1 else f"step {at}"
        why = problem or next(iter(course.skipped.values()), "")
        no = refusal(job, f"Task: no edit. The plan's {which}, {plan[at - 1]}, failed: {why}")
        return replace(no, explanation=report, unneeded=not problem)
    files = overlay.new_files
    evidence = (*_together(course.done), *unrequested_changes(files, done, overlay.kept))
    refuted = any(item.verdict is Ruling.FAIL for item in evidence)
    count = "one step" if len(done) == 1 else f"{len(done)} steps"
    head = f"{len(done)} of {len(plan)} steps" if len(done) < len(plan) else count
    notes = [f"skipped {plan[number - 1]}: {reason}" for number, reason in course.skipped.items()]
    notes += [f"stopped at {plan[course.ended - 1]}: {problem}"] if problem else []
    answer = Answer(
        success=True,
        action=job.request.action,
        language=job.request.language,
        summary=Summary(
            f"{'Tried' if refuted else 'Did'} {head}",
            new_files=tuple(file.path.name for file in files),
            notes=tuple(notes),
        ),
        edits=with_steps(overlay.edits, course.done),
        new_files=files_with_steps(files, course.done),
        code="\n\n".join(each.code for each in done if each.code),
        tests=next((each.tests for each in reversed(done) if each.tests), None),
        explanation=report,
        confidence=math.prod(each.confidence for each in done),
        warnings=tuple(
            w for w in dict.fromkeys(w for each in done for w in each.warnings) if w not in job.usage.warnings
        ),
        evidence=evidence,
        metadata=_metadata(plan, course.done),
    )
    return finished(job, answer)


def _metadata(plan: Sequence[TaskStep], done: Mapping[int, Answer]) -> Metadata:
    """The plan, and for each step the rows of the table that its chance comes from, and the reason."""
    rows = dict.fromkeys(each.metadata.calibration or DEFAULT for each in done.values())
    return Metadata(
        calibration=", ".join(rows),
        reasons=tuple(f"step {number}: {'; '.join(each.metadata.reasons)}" for number, each in done.items()),
        steps=tuple(str(step) for step in plan),
    )


def _line(number: int, step: TaskStep, course: _Course) -> str:
    if number in course.done:
        return f"{number}. {step}: {course.done[number].message}"
    if number in course.skipped:
        return f"{number}. {step}: skipped, nothing to do: {course.skipped[number]}"
    state = course.problem if number == course.ended and course.problem else "not done"
    return f"{number}. {step}: {state} (requested: {step.instruction})"


def _together(done: Mapping[int, Answer]) -> tuple[Evidence, ...]:
    """One piece of evidence per check: the worst result of any step, and that step."""
    merged = []
    items = [(n, item) for n, answer in done.items() for item in answer.evidence]
    order = list(Check)
    for check, name in sorted({(item.check, item.name) for _, item in items}, key=lambda each: order.index(each[0])):
        same = [(n, item) for n, item in items if (item.check, item.name) == (check, name)]
        worst = min((item.verdict for _, item in same), key=_WORST.index)
        those = [(n, item) for n, item in same if item.verdict is worst]
        alike = len(those) == len(done) and len({item.detail for _, item in those}) == 1
        detail = those[0][1].detail if alike else "; ".join(f"step {n}: {item.detail}" for n, item in those)
        trusted = any(item.trusted for _, item in those)
        seconds = sum(item.seconds for _, item in same)
        count = sum(item.count for _, item in those)
        attached = tuple(replace(each, name=f"step-{n}-{each.name}") for n, item in same for each in item.attachments)
        codes = tuple(dict.fromkeys(code for _, item in same for code in item.codes))
        merged.append(Evidence(check, worst, detail, trusted, seconds, count, attached, codes, name))
    return tuple(merged)


ACTION = Action(ACTIONS["task"], TASK, run)

"""Task: a change in several steps over several files; each step is done by an arm and judged as an edit of its own.

stet task "discounts may be given as a fraction too"

  plan                                     edits
  refactor | prices.py | discount | ...    one answer over all files; a step that fails stops the steps that need it,
  test | prices.py | discount | ...        and what the others changed is offered with a word about the rest
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace

from stet_ls.engine.actions.action import Action, build_job_prompt, finish_answer, refusal, required_instruction
from stet_ls.engine.actions.arms.arm import Arm
from stet_ls.engine.actions.arms.router import route_plan
from stet_ls.engine.actions.arms.table import all_arms
from stet_ls.engine.actions.computing.requested import named_data
from stet_ls.engine.actions.multi_file.chosen_parts import with_whole_evidence
from stet_ls.engine.actions.planning.intent import plain_action, request_intent
from stet_ls.engine.actions.planning.libraries import library_problem
from stet_ls.engine.actions.planning.plan_text import read_text, write_text
from stet_ls.engine.actions.planning.project import Project, project
from stet_ls.engine.actions.planning.schedule import scheduled, with_lateness
from stet_ls.engine.actions.planning.shortened import shortened
from stet_ls.engine.actions.planning.task_plan import TASK, PlanRules, read_edited, read_plan, single_step_plan
from stet_ls.engine.actions.planning.without_plan import done_without_plan
from stet_ls.engine.actions.planning.workspace_overlay import WorkspaceOverlay
from stet_ls.engine.actions.task_run.log import TaskLog
from stet_ls.engine.actions.task_run.run_plan import PlanRun, packages
from stet_ls.engine.actions.task_run.step_results import StepResults
from stet_ls.engine.actions.task_run.task_answer import put_together
from stet_ls.engine.api.actions import ACTIONS
from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.arms import Route
from stet_ls.engine.api.budget import Budget
from stet_ls.engine.api.events import Stage
from stet_ls.engine.api.plan import Plan, TaskOptions
from stet_ls.engine.api.request import Request, TargetKind
from stet_ls.engine.api.summary import Summary
from stet_ls.engine.errors import UsageError
from stet_ls.engine.job.job import Job
from stet_ls.engine.judges.case import Case
from stet_ls.engine.loop import Draft, UnusableReply, propose
from stet_ls.engine.model.chat import Completion
from stet_ls.engine.privacy.placeholders import for_reader
from stet_ls.engine.prompt.instruction import find_instruction
from stet_ls.engine.prompt.target import resolve_target
from stet_ls.engine.task_history.history import TaskEnd

_PLAN_TOKENS = 500
_LISTING = "The files of the project and what they define"
_EARLIER = "What an earlier task did"
_DATA = "A step may also read data, of which a program finds something out for the steps after it"
_BROKE_OFF = "The plan is incomplete; a few short lines are enough."


async def run(job: Job) -> Answer:
    """Plans, runs the steps, and offers them together; or the plan alone, or one question, if that is what is due."""
    request = job.request
    if request.path is None:
        return refusal(job, "Task: save the document first; a task needs a project.")
    options = request.task or TaskOptions()
    written = read_text(options.plan)
    options = scheduled(options, written)
    budget = request.spec.standard_budget if request.budget is Budget.STANDARD else request.budget
    job.due = None if options.deadline is None else job.deadline.started + options.deadline
    job.deadline.budget, job.deadline.due = budget, job.due
    job = job.with_request(
        replace(request, budget=budget, instruction=request.instruction or written.goal, task=options)
    )
    log = TaskLog.of(job, options)
    try:
        answer, state = await _run(job, options, log)
        return log.ended(with_lateness(answer, job), state)
    except asyncio.CancelledError:
        log.cancelled()
        raise
    except Exception as error:
        log.failed(str(error))
        raise
    finally:
        log.close()


async def _run(job: Job, options: TaskOptions, log: TaskLog) -> tuple[Answer, TaskEnd]:
    if log.earlier:
        job = _with_context(job, {_EARLIER: log.earlier})
    request = job.request
    planned = options.plan or options.plan_only or log.plan_text
    if not planned and (answer := await done_without_plan(job)) is not None:
        return answer, TaskEnd.DONE
    with job.stage("context"):
        about = await asyncio.to_thread(project, request, job.settings.privacy.ignore)
        overlay = await asyncio.to_thread(_overlay, request, about)
        arms = (await asyncio.to_thread(all_arms)).by_name
    plan = await _plan(job, about, frozenset(arms), options, log)
    if isinstance(plan, UnusableReply):
        return refusal(job, f"Task: no plan. {plan.problem}"), TaskEnd.REFUSED
    plan = replace(plan, priority=options.priority or plan.priority, deadline=options.deadline)
    if plan.intent.question:
        return refusal(job, f"Task: {plan.intent.question}"), TaskEnd.REFUSED
    with job.stage("route"):
        plan, routes = await route_plan(job, plan, arms)
    text = write_text(plan, [each if isinstance(each, str) else each.reason for each in routes.values()])
    log.planned(plan, routes, text)
    if options.plan_only:
        return _shown(job, plan, text), TaskEnd.PLANNED
    if why := log.conflict():
        return refusal(job, f"Task: {why}"), TaskEnd.REFUSED
    job.on_event(Stage("planned", "; ".join(f"{step.number}. {step}" for step in plan.enabled)))
    return await _carried_out(job, plan, routes, arms, overlay, log)


async def _carried_out(
    job: Job,
    plan: Plan,
    routes: Mapping[int, Route | str],
    arms: Mapping[str, Arm],
    overlay: WorkspaceOverlay,
    log: TaskLog,
) -> tuple[Answer, TaskEnd]:
    results = StepResults()
    await asyncio.to_thread(log.resume, overlay, results)
    results = await PlanRun(job, plan, routes, arms, overlay, log.began, log.step, results).run()
    if not results.done and results.errors:
        raise results.errors[0]
    answer = await with_whole_evidence(job, put_together(job, plan, results, overlay))
    return answer, TaskEnd.PARTIAL if results.failed or results.lost else TaskEnd.DONE


def _overlay(request: Request, about: Project) -> WorkspaceOverlay:
    """The workspace before the first step, without the comment that requested the task."""
    instruction = find_instruction(request, resolve_target(request))
    overlay = WorkspaceOverlay(request, about, instruction.text if instruction is not None else "")
    if instruction is not None and instruction.replaces is not None:
        overlay.take_out(instruction.replaces)
    return overlay


async def _plan(
    job: Job, about: Project, arms: frozenset[str], options: TaskOptions, log: TaskLog
) -> Plan | UnusableReply:
    """The plan that the user edited, that of an earlier run, the one of the rules, or the model's."""
    request = job.request
    target = resolve_target(request)
    instruction = required_instruction(ACTION, request, target)
    words = instruction.text if instruction is not None else ""
    selected = target.name if request.selection is not None and target.kind is TargetKind.UNIT else ""
    intent = await asyncio.to_thread(request_intent, words, request.constraints, about, selected)
    intent = replace(intent, libraries=tuple(dict.fromkeys((*intent.libraries, *options.libraries))))
    rules = PlanRules(about, intent, frozenset(job.settings.sandbox.packages), arms)
    if text := options.plan or log.plan_text:
        # A user may have taken a package out of the plan that the words of the request still name.
        rules = replace(rules, intent=replace(intent, libraries=options.libraries))
        plan = await asyncio.to_thread(read_edited, text, rules)
        if isinstance(plan, UnusableReply) and options.plan:
            raise UsageError(f"the plan cannot be used: {plan.problem}", hint="edit the plan; `stet plan` prints one")
        return plan
    # A model cannot correct the name of a package that the user wrote.
    if question := intent.question or library_problem(intent.libraries, about.root, rules.allowed):
        return Plan(replace(intent, question=question), about.root, ())
    if (plain := plain_action(words, intent, about)) is not None:
        return single_step_plan(*plain, words, rules)
    return await _asked(job, words, rules)


async def _asked(job: Job, words: str, rules: PlanRules) -> Plan | UnusableReply:
    """The plan that the model proposes."""
    request = job.request
    listing = await asyncio.to_thread(rules.about.listing)
    inputs, _ = await asyncio.to_thread(named_data, request, words)
    data = {_DATA: "\n".join(f"compute | {name} | - | what to find out of it" for name in inputs)} if inputs else {}
    short = await asyncio.to_thread(shortened, request, words, job.prompt_budget() // 3)
    asking = _with_context(job.with_request(short), {_LISTING: listing, **data, **packages(rules.intent)})
    with job.stage("context"):
        prompt = (await asyncio.to_thread(build_job_prompt, asking, ACTION)).prompt
    case = Case(request.action, request.language, request.path, request.source, request.source, tools=job.tools)

    async def read(completion: Completion) -> Draft[Plan] | UnusableReply:
        if completion.finish != "stop":
            return UnusableReply(_BROKE_OFF)
        plan = await asyncio.to_thread(read_plan, for_reader(completion.text, prompt.secrets), rules)
        return plan if isinstance(plan, UnusableReply) else Draft(plan, case)

    proposal = await propose(asking, prompt, read, (), temperature=0.1, max_tokens=_PLAN_TOKENS)
    return proposal if isinstance(proposal, UnusableReply) else proposal.draft.content


def _with_context(job: Job, context: Mapping[str, str]) -> Job:
    """The same job with more context."""
    return job.with_request(replace(job.request, context={**job.request.context, **context}))


def _shown(job: Job, plan: Plan, text: str) -> Answer:
    """The plan as the answer: nothing is run."""
    request = job.request
    calls = sum(step.estimate.calls for step in plan.enabled if step.estimate)
    seconds = sum(step.estimate.seconds for step in plan.enabled if step.estimate)
    count = len(plan.enabled)
    notes = (f"about {calls} calls, {seconds:.0f} s",)
    summary = Summary("Planned", "one step" if count == 1 else f"{count} steps", notes=notes)
    answer = Answer(True, request.action, request.language, summary, markdown=text)
    return finish_answer(job, replace(answer, metadata=replace(answer.metadata, steps=tuple(map(str, plan.enabled)))))


ACTION = Action(ACTIONS["task"], TASK, run)

"""Runs a plan: each step as soon as what it needs is done, side by side, within one budget.

A failed step stops the steps that need it, and no other; it is tried once more alone if its acceptance failed.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from stet_ls.engine.actions.arms.arm import Arm, StepRun
from stet_ls.engine.actions.planning.workspace_overlay import WorkspaceOverlay
from stet_ls.engine.actions.task_run.acceptance import check_criteria
from stet_ls.engine.actions.task_run.step_results import StepResults
from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.arms import Route
from stet_ls.engine.api.budget import CALLS
from stet_ls.engine.api.events import Stage
from stet_ls.engine.api.plan import STEP_KINDS, Plan, PlanStep, RequestIntent, dependents
from stet_ls.engine.api.request import Request
from stet_ls.engine.errors import StetError
from stet_ls.engine.job.job import Job
from stet_ls.engine.job.ledger import ArmUse
from stet_ls.engine.task_history.step_record import DONE, FAILED, SKIPPED, StepRecord, row_of

_PLAN = "The plan of the whole task"
_REPORT = "What step {number} found"
_BEFORE = "Why the last try of this step was not accepted"
_PACKAGES = "Packages that the task requires"
_TRIES = 2

OnStart = Callable[[int], None]
OnStep = Callable[[StepRecord], None]


@dataclass
class PlanRun:
    """One run of a plan. `began` is called for each step that starts, `record` once it ended."""

    job: Job
    plan: Plan
    routes: Mapping[int, Route | str]
    arms: Mapping[str, Arm]
    overlay: WorkspaceOverlay
    began: OnStart
    record: OnStep
    results: StepResults

    async def run(self) -> StepResults:
        """Runs what is left of the plan. A cancel ends all steps that run."""
        waiting = [step for step in self.plan.enabled if step.number not in self.results.ended]
        running: dict[asyncio.Task[None], PlanStep] = {}
        try:
            while waiting or running:
                for step in self._startable(waiting, list(running.values())):
                    waiting.remove(step)
                    running[asyncio.create_task(self._step(step))] = step
                if not running:
                    self._give_up(waiting)
                    break
                ended, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                for task in ended:
                    step = running.pop(task)
                    task.result()
                    lost = dependents(self.plan.steps, step.number) if step.number in self.results.failed else ()
                    for each in [each for each in waiting if each.number in lost]:
                        waiting.remove(each)
                        self.results.lost[each.number] = f"needs step {step.number}, which failed"
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)
        return self.results

    def _startable(self, waiting: list[PlanStep], running: list[PlanStep]) -> list[PlanStep]:
        """The steps that can start now: needed ones done, calls left, and no more than the arms can do at once."""
        found: list[PlanStep] = []
        if self.job.deadline.late > 0:
            return found
        left = CALLS[self.job.request.budget] - self.job.usage.calls - sum(map(self._least, running))
        for step in waiting:
            if not self.results.is_free(step.number, self.plan):
                continue
            route = self.routes[step.number]
            busy = [each for each in (*running, *found) if self.routes[each.number] == route]
            if not isinstance(route, str) and len(busy) >= self.arms[route.arm].spec.at_once:
                continue
            if len(running) + len(found) >= max(self.job.settings.jobs_at_once, 1):
                break
            if self._least(step) > left:
                continue
            left -= self._least(step)
            found.append(step)
        return found

    def _least(self, step: PlanStep) -> int:
        """The calls without which a step cannot be done."""
        route = self.routes[step.number]
        return 0 if isinstance(route, str) else min(self.arms[route.arm].spec.calls, 1)

    def _give_up(self, waiting: list[PlanStep]) -> None:
        budget, options = self.job.request.budget, self.job.request.task
        why = f"the budget {budget} of {CALLS[budget]} model calls is used up"
        if self.job.deadline.late > 0 and options is not None:
            why = f"the deadline of {options.deadline:g} s has passed"
        self.results.lost.update({step.number: why for step in waiting})

    async def _step(self, step: PlanStep) -> None:
        route = self.routes[step.number]
        if isinstance(route, str):
            self._end(step, FAILED, route, None, StepRecord(step.number, FAILED, route))
            return
        self.began(step.number)
        at = list(self.plan.enabled).index(step) + 1
        self.job.on_event(Stage("step", f"{at} of {len(self.plan.enabled)}: {step}"))
        began, tries = time.monotonic(), len(self.job.parts)
        answer, problem = await self._tried(step, route)
        state = DONE if not problem and answer is not None else FAILED
        if answer is not None and answer.nothing_to_do:
            state, problem = SKIPPED, answer.message
        seconds = time.monotonic() - began
        parts = [each for each in self.job.parts[tries:] if each.step == step.number]
        row = row_of(answer) if state == DONE and answer is not None else {}
        record = StepRecord(
            step.number, state, problem or (answer.message if answer is not None else ""), route.arm, route.reason,
            round(seconds, 3), sum(each.own_calls for each in parts), sum(each.own_tokens for each in parts), row,
        )  # fmt: skip
        use = ArmUse(1, int(state != FAILED), seconds)
        self.job.usage.arms[route.arm] = self.job.usage.arms.get(route.arm, ArmUse()).plus(use)
        self._end(step, state, problem, answer, record)

    async def _tried(self, step: PlanStep, route: Route) -> tuple[Answer | None, str]:
        """The accepted answer of a step, or the problem. It is applied at once: nothing waits in between."""
        why = ""
        answer: Answer | None = None
        for attempt in range(_TRIES):
            run = self._run_of(step, why)
            try:
                answer = await self.arms[route.arm].run(run)
                if not answer.success:
                    return answer, answer.message
                checked = await check_criteria(run, answer)
            except StetError as error:
                self.results.errors.append(error)
                return None, str(error)
            answer, why, again = checked.answer, checked.problem, checked.is_unknown_to_action
            if not why and (path := self.overlay.conflict(answer)) is not None:
                why, again = f"another step changed {path.name} meanwhile", True
            if not why:
                self.overlay.apply_answer(answer)
                return answer, ""
            if not again:
                break
            if attempt + 1 < _TRIES and (limit := run.job.call_limit_reason()):
                return answer, f"{why} (not tried again: {limit})"
        return answer, why

    def _run_of(self, step: PlanStep, why: str) -> StepRun:
        notes = {
            _REPORT.format(number=number): answer.markdown
            for number, answer in sorted(self.results.done.items())
            if answer.markdown and not STEP_KINDS[self.plan.step(number).action].edits
        }
        request = self._within(step, self.overlay.request_for(step))
        more = {**packages(self.plan.intent), **notes, **({_BEFORE: why} if why else {})}
        limits = tuple(each for each in self.plan.intent.constraints if each not in step.instruction)
        request = replace(request, context={**request.context, **more}, constraints=limits)
        later = [each for each in self.plan.enabled if each.number not in self.results.ended and each is not step]
        job = self.job.part(request, step.number, reserved=sum(map(self._least, later)))
        return StepRun(job, step, self.plan, self.overlay, notes)

    def _within(self, step: PlanStep, request: Request) -> Request:
        """The request of a step, with the whole plan as context, so that it leaves later steps alone."""
        if len(self.plan.enabled) == 1:
            return request
        lines = [f"{each.number}. {each}: {each.instruction}" for each in self.plan.enabled]
        lines.append(f"Now do step {step.number} alone.")
        return replace(request, context={**request.context, _PLAN: "\n".join(lines)})

    def _end(self, step: PlanStep, state: str, problem: str, answer: Answer | None, record: StepRecord) -> None:
        if state == DONE and answer is not None:
            self.results.done[step.number] = answer
        elif state == SKIPPED:
            self.results.skipped[step.number] = problem
        else:
            self.results.failed[step.number] = problem
        self.record(record)


def packages(intent: RequestIntent) -> dict[str, str]:
    """The packages that a task requires, as context."""
    return {_PACKAGES: ", ".join(intent.libraries)} if intent.libraries else {}

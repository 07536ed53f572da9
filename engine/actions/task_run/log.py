"""What a task writes into the history while it goes, and what a resumed one takes from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from stet_ls.engine.actions.planning.workspace_overlay import WorkspaceOverlay
from stet_ls.engine.actions.task_run.step_results import StepResults
from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.arms import Route
from stet_ls.engine.api.plan import Plan, TaskOptions
from stet_ls.engine.job.job import Job
from stet_ls.engine.job.ledger import now
from stet_ls.engine.task_history.history import FINISHED, OpenTask, TaskEnd, TaskHistory, TaskRecord
from stet_ls.engine.task_history.step_record import DONE, StepRecord, answer_of, taken_paths
from stet_ls.validators.project_files import read_text


@dataclass
class TaskLog:
    """The log of one task. Without a history, as in a replay, it writes nothing."""

    job: Job
    history: TaskHistory | None = None
    opened: OpenTask | None = None
    record: TaskRecord | None = None
    """The task so far, if it is resumed."""
    earlier: str = ""
    """What the tasks did whose results are context for this one."""
    _plan: dict[str, Any] = field(default_factory=dict)
    _at: str = ""
    _closed: bool = False

    @classmethod
    def of(cls, job: Job, options: TaskOptions) -> TaskLog:
        """The log of a job's task. Raises UsageError for an unknown task, or one that runs already."""
        if job.tasks is None:
            return cls(job)
        record = job.tasks.get(options.task) if options.task else None
        earlier = "\n\n".join(job.tasks.get(each).as_context() for each in options.after)
        at = now()
        opened = job.tasks.start(record.id if record else job.trace_id, at, job.request)
        return cls(job, job.tasks, opened, record, earlier, _at=record.at if record else at)

    @property
    def plan_text(self) -> str:
        """The plan of the run before, "" if there is none."""
        return self.record.plan_text if self.record else ""

    def planned(self, plan: Plan, routes: Mapping[int, Route | str], text: str) -> None:
        """Records the plan, its routes and the files that it changes."""
        paths = sorted({str(path) for step in plan.enabled for path in (step.path, *step.files)})
        shown = {
            str(number): route
            if isinstance(route, str)
            else {"arm": route.arm, "score": route.score, "reason": route.reason}
            for number, route in routes.items()
        }
        self._plan = {**plan.to_json(), "root": str(plan.root), "paths": paths, "routes": shown}
        if self.opened:
            self.opened.plan(self._plan, text)

    def conflict(self) -> str:
        """The sentence about another running task that changes one of the same files; "" if there is none."""
        if self.history is None or self.opened is None:
            return ""
        own = TaskRecord(self.opened.id, self._at, plan=self._plan)
        other = self.history.conflicting(own)
        if other is None:
            return ""
        names = ", ".join(sorted(path.rpartition("/")[2] for path in other.files & own.files))
        return f"another task, {other.id}, works on {names}: wait until it has ended, or cancel it."

    def resume(self, overlay: WorkspaceOverlay, results: StepResults) -> None:
        """Takes the finished steps of the run before; those whose files changed since are done again. Parses."""
        steps = sorted(self.record.steps.values(), key=_order) if self.record else []

        def text_of(path: Path) -> str | None:
            text = overlay.text(path)
            return _disk(path) if text is None else text

        taken = taken_paths({step.number: step.answer for step in steps if step.state == DONE}, text_of)
        for step in steps:
            if step.state not in FINISHED:
                continue
            if step.state != DONE:
                results.skipped[step.number] = step.message
                continue
            answer = answer_of(step.answer, text_of, taken[step.number])
            if answer is None:
                self.job.usage.warnings.append(f"Step {step.number} is done again: its files changed since.")
                continue
            overlay.apply_answer(answer)
            results.done[step.number] = answer
            results.resumed.add(step.number)
            results.taken += bool(taken[step.number])

    def began(self, step: int) -> None:
        """Records that a step began."""
        if self.opened:
            self.opened.began(step)

    def step(self, record: StepRecord) -> None:
        """Records a step that ended."""
        if self.opened:
            self.opened.step(record)

    def ended(self, answer: Answer, state: TaskEnd = TaskEnd.DONE) -> Answer:
        """Records the end of the task, and returns the answer with its id."""
        self._end(state if answer.success else TaskEnd.REFUSED, answer.message)
        shown = {name: value for name, value in self._plan.items() if name not in _ABSOLUTE}
        answer = replace(answer, plan=shown or None)
        return replace(answer, metadata=replace(answer.metadata, task=self.opened.id)) if self.opened else answer

    def cancelled(self) -> None:
        """Records that the user stopped it: what was done is kept."""
        self._end(TaskEnd.CANCELLED, "Cancelled.")

    def failed(self, why: str) -> None:
        """Records an error."""
        self._end(TaskEnd.FAILED, why)

    def close(self) -> None:
        """Lets other processes have the task."""
        if self.opened:
            self.opened.close()

    def _end(self, state: TaskEnd, message: str) -> None:
        if self.opened is None or self._closed:
            return
        self._closed = True
        used = self.job.usage
        result = {
            "message": message,
            "seconds": round(self.job.deadline.seconds(), 3),
            "calls": used.calls,
            "tokens": used.prompt_tokens + used.completion_tokens,
            "cost": used.cost,
            "stages": {name: round(seconds, 3) for name, seconds in used.stages.items()},
            "at": now(),
            "late": round(max(self.job.deadline.late, 0.0), 3),
        }
        self.opened.end(state, result)


def _order(step: StepRecord) -> int:
    return step.number


def _disk(path: Path) -> str | None:
    return read_text(path, most=_LARGEST)


_LARGEST = 1_000_000
_ABSOLUTE = ("root", "paths")
"""What an answer's plan leaves out: paths of this machine."""

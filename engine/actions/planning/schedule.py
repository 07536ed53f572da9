"""When a task is due and whose calls go first, as its plan or its options say: `deadline: 10 min`, `priority: high`."""

from __future__ import annotations

from dataclasses import replace

from stet_ls.engine.actions.planning.plan_text import PlanText
from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.duration import seconds_of
from stet_ls.engine.api.plan import TaskOptions, TaskPriority
from stet_ls.engine.job.job import Job


def scheduled(options: TaskOptions, written: PlanText) -> TaskOptions:
    """The options with what the plan says and they do not. What is no priority or duration is refused later."""
    try:
        priority, deadline = schedule_of(written)
    except ValueError:
        return options
    return replace(
        options,
        priority=options.priority or priority,
        deadline=deadline if options.deadline is None else options.deadline,
    )


def schedule_of(written: PlanText) -> tuple[TaskPriority | None, float | None]:
    """The priority and the seconds that a plan says. ValueError with a sentence for what is neither."""
    if written.priority and written.priority not in set(TaskPriority):
        raise ValueError(f"There is no priority {written.priority!r}; there are {', '.join(TaskPriority)}.")
    priority = TaskPriority(written.priority) if written.priority else None
    return priority, seconds_of(written.deadline) if written.deadline else None


def with_lateness(answer: Answer, job: Job) -> Answer:
    """The answer, with a warning if the task took longer than its deadline."""
    late, options = job.deadline.late, job.request.task
    if late <= 0 or options is None or options.deadline is None:
        return answer
    warning = f"The deadline of {options.deadline:g} s was missed by {late:.1f} s."
    return replace(answer, warnings=(*answer.warnings, warning))

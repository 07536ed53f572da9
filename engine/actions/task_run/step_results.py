"""How the steps of a plan went so far."""

from __future__ import annotations

from dataclasses import dataclass, field

from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.plan import Plan
from stet_ls.engine.errors import StetError


@dataclass
class StepResults:
    """The results of the steps by number.

    done: The answers of those that succeeded.
    skipped: The reasons of those with nothing to do.
    failed: The problems of those that failed.
    lost: For each step that was not tried, why: a failed step that it needs, or the budget.
    resumed: The steps that an earlier run of the task finished.
    taken: How many of these have changes that are in the files already, because the user took them.
    errors: The errors that ended a step; the first is raised if nothing else came of the task.
    """

    done: dict[int, Answer] = field(default_factory=dict)
    skipped: dict[int, str] = field(default_factory=dict)
    failed: dict[int, str] = field(default_factory=dict)
    lost: dict[int, str] = field(default_factory=dict)
    resumed: set[int] = field(default_factory=set)
    taken: int = 0
    errors: list[StetError] = field(default_factory=list)

    @property
    def ended(self) -> set[int]:
        """The steps that need no further work."""
        return {*self.done, *self.skipped, *self.failed, *self.lost}

    def is_free(self, number: int, plan: Plan) -> bool:
        """Whether everything that a step needs is there; steps that the user unticked count as there."""
        enabled = {step.number for step in plan.enabled}
        return all(need in self.done or need in self.skipped or need not in enabled for need in plan.step(number).needs)

    def edits(self) -> dict[int, Answer]:
        """The answers of steps that changed something."""
        return {number: answer for number, answer in self.done.items() if answer.edits or answer.new_files}

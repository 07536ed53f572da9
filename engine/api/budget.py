"""The budgets of a job."""

from enum import StrEnum


class Budget(StrEnum):
    """How much a job may spend; `job.budget.CALLS` has the model calls of each."""

    QUICK = "quick"
    STANDARD = "standard"
    THOROUGH = "thorough"
    TASK = "task"

    @property
    def is_long(self) -> bool:
        """Whether the user waits for more than one quick answer."""
        return self in (Budget.THOROUGH, Budget.TASK)

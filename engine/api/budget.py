"""The budgets of a job."""

from enum import StrEnum


class Budget(StrEnum):
    """How much a job may spend; `CALLS` has the model calls of each."""

    QUICK = "quick"
    STANDARD = "standard"
    THOROUGH = "thorough"
    TASK = "task"

    @property
    def is_long(self) -> bool:
        """Whether the user waits for more than one quick answer."""
        return self in (Budget.THOROUGH, Budget.TASK)


CALLS: dict[Budget, int] = {Budget.QUICK: 1, Budget.STANDARD: 3, Budget.THOROUGH: 6, Budget.TASK: 15}
"""Model calls of each budget."""

"""The number of model calls of each budget."""

from __future__ import annotations

from stet_ls.engine.api.request import Budget
from stet_ls.engine.plurals import plural

CALLS: dict[Budget, int] = {Budget.QUICK: 1, Budget.STANDARD: 3, Budget.THOROUGH: 6, Budget.TASK: 15}
"""Model calls of each budget."""


def calls_of(budget: Budget) -> str:
    """The number of calls of a budget, in words."""
    return plural(CALLS[budget], "call")

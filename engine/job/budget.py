"""How many calls of a model each budget allows."""

from __future__ import annotations

from stet_ls.engine.api.request import Budget
from stet_ls.engine.plurals import plural

CALLS: dict[Budget, int] = {Budget.QUICK: 1, Budget.STANDARD: 3, Budget.THOROUGH: 6, Budget.TASK: 15}
"""Model calls that each budget buys."""


def calls_of(budget: Budget) -> str:
    """How many calls a budget buys, in words."""
    return plural(CALLS[budget], "call")

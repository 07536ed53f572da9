"""The number of model calls of each budget."""

from __future__ import annotations

from stet_ls.engine.api.budget import Budget

CALLS: dict[Budget, int] = {Budget.QUICK: 1, Budget.STANDARD: 3, Budget.THOROUGH: 6, Budget.TASK: 15}
"""Model calls of each budget."""

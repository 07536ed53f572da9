"""Solutions that tests of the memory remember."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from stet_ls.engine.memory.solution import Solution

Open = Callable[..., Awaitable[Any]]
"""Opens the store of a test once more, as another process would."""

DATE = Solution(
    "Parse an ISO date from a string",
    "def parse_date(text):\n    return date.fromisoformat(text)",
    "python",
    outcome="kept",
)
REVERSE = Solution("Reverse the order of a list", "def backwards(items):\n    return items[::-1]", "python")

"""The built-in actions."""

from __future__ import annotations

ACTIONS = ("generate", "debug", "refactor", "analyze", "test", "explain", "optimize", "task")
"""The built-in actions, in the order in which they are shown."""

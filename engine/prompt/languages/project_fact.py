"""A fact about how a project writes code, as a file of its settings tells it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Fact = tuple[str, str]
"""What it is about, and how a prompt says it."""


def at(data: Any, *keys: str) -> Any:
    """The value at a path of keys; None if there is none."""
    for key in keys:
        if not isinstance(data, Mapping):
            return None
        data = data.get(key)
    return data

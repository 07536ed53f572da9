"""A fact about how a project writes code, from one of its settings files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Fact = tuple[str, str]
"""The subject of the fact, and its wording in a prompt."""


def at(data: Any, *keys: str) -> Any:
    """The value at a path of keys; None if there is none."""
    for key in keys:
        if not isinstance(data, Mapping):
            return None
        data = data.get(key)
    return data

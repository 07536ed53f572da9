"""One line of the table that `make bench` prints."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """What was measured, the number with its unit, and the goal that the design sets ("-" where it sets none)."""

    what: str
    number: str
    goal: str = "-"

"""A probe in a changed place, and texts with probes."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum


class ProbeEvent(StrEnum):
    """What an input has to do at a place, as words that precede a line."""

    RAN = "ran"
    TRUE = "fulfilled the condition in"
    FALSE = "failed the condition in"
    REST = "came to the rest of the condition in"
    TIE = "made both sides equal in"


@dataclass(frozen=True, slots=True)
class Probe:
    """A place in a changed statement, and the `need` there. `line` is 0 if the text is not the user's."""

    need: ProbeEvent
    line: int
    text: str
    is_old: bool = False

    def __str__(self) -> str:
        line = f"line {self.line}" if self.line else "the line"
        return f"{self.need} {line}{' of the old code' if self.is_old else ''}: `{self.text}`"


@dataclass(frozen=True, slots=True)
class ProbedText:
    """A text with `probes`, numbered from 0 on, which call `name`; and the literals of the units that hold them."""

    text: str
    name: str
    probes: tuple[Probe, ...]
    literals: tuple[str, ...]


def in_order(probes: Collection[Probe]) -> list[Probe]:
    """Sorted by significance: code that did not run at all comes first, and new code before old."""
    needs = list(ProbeEvent)
    return sorted(probes, key=lambda each: (needs.index(each.need), each.is_old, each.line, each.text))

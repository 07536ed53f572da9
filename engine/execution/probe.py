"""A probe in a changed place, and texts with probes."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum

from stet_ls.engine.execution.harness_run import HarnessReport


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


def unreached_probes(
    both: tuple[ProbedText, ProbedText], report: HarnessReport, parts: tuple[range, range] | None = None
) -> frozenset[Probe]:
    """The probes of two texts that no call reached; all of them if unknown. Only those within `parts`, if given."""
    sides = enumerate(both)
    left = (
        probe for side, each in sides for n, probe in enumerate(each.probes)
        if report.unseen is None or n in report.unseen[side]
    )  # fmt: skip
    return _within(left, parts)


def places_of(both: tuple[ProbedText, ProbedText], parts: tuple[range, range] | None = None) -> int:
    """The number of probes of two texts. Only those within `parts`, if given."""
    return len(_within((probe for each in both for probe in each.probes), parts))


def _within(probes: Iterable[Probe], parts: tuple[range, range] | None) -> frozenset[Probe]:
    return frozenset(each for each in probes if parts is None or not each.line or each.line in parts[not each.is_old])

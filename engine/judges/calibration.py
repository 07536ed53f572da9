"""The strength of evidence, and how often answers with evidence of that strength were right: a table of counts.

The table is `calibration.json` next to this file. `tests/bench/eval/calibrate.py` recounts it from the results of an
evaluation; a cell that was never counted holds a default, with a count of 0.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from stet_ls.engine.api.evidence import Check, Evidence, EvidenceTier, Ruling

FILE = Path(__file__).with_name("calibration.json")
"""The table that is shipped."""
LEAST_COUNT = 20
"""The count from which a cell replaces its default: with fewer, its interval spans half of all values."""
DEFAULT = "default"
"""The calibration of an answer whose chance is a default."""
LOWEST, HIGHEST = 0.02, 0.98
"""No evidence proves a candidate right or wrong for certain (engine facts, section 3)."""
_ENOUGH_INPUTS = 200
"""Valid inputs on which old and new have to behave alike to count as equivalent."""


def strength(evidence: Iterable[Evidence], *, truncated: bool = False) -> EvidenceTier:
    """The strongest tier that passing evidence reaches. New lint does not lower it: style is for the user to weigh.

    Passing examples count for little if other samples, or tests from the same words, contradict them.
    """
    evidence = tuple(evidence)
    passed = {item.check: item for item in evidence if item.verdict is Ruling.PASS}
    if truncated or Check.SYNTAX not in passed:
        return EvidenceTier.UNCHECKED
    ran = [passed[check] for check in (Check.TESTS, Check.DOCTEST) if check in passed]
    compared = passed.get(Check.DIFFERENTIAL) or passed.get(Check.COMMENTS)
    doubted = any(map(_doubts, evidence))
    if any(item.trusted and not (doubted and item.check is Check.DOCTEST) for item in ran):
        return EvidenceTier.TESTED
    if compared is not None and compared.count >= _ENOUGH_INPUTS:
        return EvidenceTier.EQUIVALENT
    if compared is not None or Check.AGREEMENT in passed or any(map(is_partly_equal, evidence)):
        return EvidenceTier.COMPARED
    return EvidenceTier.SELF_TESTED if ran else EvidenceTier.PARSED


def is_partly_equal(item: Evidence) -> bool:
    """Whether old and new behave alike on inputs that did not execute all of the change."""
    return item.check is Check.DIFFERENTIAL and item.verdict is Ruling.UNKNOWN and item.count > 0


def _doubts(item: Evidence) -> bool:
    """Whether it weakens a few examples: tests written by the model that ran and failed, or samples that disagree."""
    if item.trusted or item.verdict not in (Ruling.FAIL, Ruling.UNKNOWN):
        return False
    return item.check is Check.AGREEMENT or (item.check is Check.TESTS and bool(item.attachments))


@dataclass(frozen=True, slots=True)
class Cell:
    """`right` of `count` answers; `interval` is the 95 % interval of that share. A default unless `measured`."""

    chance: float
    right: int = 0
    count: int = 0
    interval: tuple[float, float] | None = None

    @property
    def measured(self) -> bool:
        """True if enough cases were counted to use their share."""
        return self.count >= LEAST_COUNT

    def to_json(self) -> dict[str, Any]:
        """The cell as stored in the table."""
        source = "measured" if self.measured else "start value"
        interval = None if self.interval is None else [round(end, 3) for end in self.interval]
        return {
            "chance": round(self.chance, 3),
            "source": source,
            "right": self.right,
            "count": self.count,
            "interval": interval,
        }


@dataclass(frozen=True, slots=True)
class CalibrationRow:
    """The chances of one model, or, without `model`, of all models of a profile. `date` is that of the newest count.

    `disorder` names strengths that were right less often than a weaker strength.
    """

    profile: str
    model: str
    date: str
    cells: Mapping[EvidenceTier, Cell]
    disorder: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name shown as an answer's calibration."""
        return self.model or self.profile

    def to_json(self) -> dict[str, Any]:
        """The row as stored in the table."""
        return {
            "profile": self.profile,
            "model": self.model,
            "date": self.date,
            "disorder": list(self.disorder),
            "tiers": {each.value: cell.to_json() for each, cell in self.cells.items()},
        }


def read(file: Path = FILE) -> tuple[CalibrationRow, ...]:
    """The rows of a table. KeyError or ValueError if the file is not a table."""
    return tuple(_row(data) for data in json.loads(file.read_text("utf-8"))["rows"])


def _row(data: Mapping[str, Any]) -> CalibrationRow:
    tiers = {EvidenceTier(word): cell for word, cell in data["tiers"].items()}
    cells = {}
    for each in EvidenceTier:
        cell = tiers[each]
        low_high = cell["interval"]
        interval = None if low_high is None else (float(low_high[0]), float(low_high[1]))
        cells[each] = Cell(float(cell["chance"]), int(cell["right"]), int(cell["count"]), interval)
    disorder = tuple(map(EvidenceTier, data["disorder"]))
    return CalibrationRow(data["profile"], data["model"], data["date"], cells, disorder)


def chance(
    at: EvidenceTier, profile: str, model: str, rows: Sequence[CalibrationRow] | None = None
) -> tuple[float, str]:
    """The chance for evidence of that strength, and the name of its row: the model's, its profile's, or DEFAULT."""
    rows = _shipped() if rows is None else rows
    of_profile = next((row for row in rows if not row.model and row.profile == profile), None)
    fitting = [row for row in rows if row.model and row.model.lower() == model.lower()]
    for row in (*fitting, *([of_profile] if of_profile else [])):
        if row.cells[at].measured:
            return min(max(row.cells[at].chance, LOWEST), HIGHEST), row.name
    # An unknown profile counts as the weakest, which is the first.
    start = (of_profile or next(row for row in rows if not row.model)).cells[at]
    return min(max(start.chance, LOWEST), HIGHEST), DEFAULT


@cache
def _shipped() -> tuple[CalibrationRow, ...]:
    return read()

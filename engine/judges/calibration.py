"""The strength of evidence, and how often answers with evidence of that strength were right: a table of counts.

The table is `calibration.json` next to this file. `tests/bench/eval/calibrate.py` recounts it from the results of an
evaluation; a cell that was never counted holds a default, with a count of 0. Cells of one action go before those of all
actions, the model's before its profile's.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from stet_ls.engine.api.evidence import Check, Evidence, EvidenceTier, Ruling

FILE = Path(__file__).with_name("calibration.json")
"""The table that is shipped."""
LEAST_COUNT = 20
"""The count from which a cell replaces its default: with fewer, its interval spans half of all values."""
_WORTH = 4
"""A default weighs as much as so many counted answers, until enough were counted."""
DEFAULT = "default"
"""The calibration of an answer whose chance is a default."""
LOWEST, HIGHEST = 0.02, 0.98
"""No evidence proves a candidate right or wrong for certain: tests and inputs are samples."""
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
    weakened = any(map(_weakens, evidence))
    if any(item.trusted and not (weakened and item.check is Check.DOCTEST) for item in ran):
        return EvidenceTier.TESTED
    if compared is not None and compared.count >= _ENOUGH_INPUTS:
        return EvidenceTier.EQUIVALENT
    if compared is not None or Check.AGREEMENT in passed or any(map(is_partly_equal, evidence)):
        return EvidenceTier.COMPARED
    return EvidenceTier.SELF_TESTED if ran else EvidenceTier.PARSED


def is_partly_equal(item: Evidence) -> bool:
    """Whether old and new behave alike on inputs that did not execute all of the change."""
    return item.check is Check.DIFFERENTIAL and item.verdict is Ruling.UNKNOWN and item.count > 0


def _weakens(item: Evidence) -> bool:
    """Whether it weakens a few examples: tests written by the model that ran and failed, or samples that disagree."""
    if item.trusted or item.verdict not in (Ruling.FAIL, Ruling.UNKNOWN):
        return False
    return item.check is Check.AGREEMENT or (item.check is Check.TESTS and bool(item.attachments))


@dataclass(frozen=True, slots=True)
class MeasuredChance:
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

    `disorder` names strengths that were right less often than a weaker strength. `actions` has the counts of single
    actions. `brier` is the mean squared error of these chances on answers that they were not counted from.
    """

    profile: str
    model: str
    date: str
    cells: Mapping[EvidenceTier, MeasuredChance]
    disorder: tuple[str, ...] = ()
    actions: Mapping[str, Mapping[EvidenceTier, MeasuredChance]] = field(default_factory=dict)
    brier: float | None = field(default=None, compare=False)

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
            "brier": None if self.brier is None else round(self.brier, 3),
            "tiers": _cells_to_json(self.cells),
            "actions": {action: _cells_to_json(cells) for action, cells in sorted(self.actions.items())},
        }


@dataclass(frozen=True, slots=True)
class ChanceEstimate:
    """A chance, the `row` that it comes from (DEFAULT if too few were counted), and its 95 % interval."""

    chance: float
    row: str
    interval: tuple[float, float]


def read(file: Path = FILE) -> tuple[CalibrationRow, ...]:
    """The rows of a table. KeyError or ValueError if the file is not a table."""
    return tuple(_row(data) for data in json.loads(file.read_text("utf-8"))["rows"])


def _row(data: Mapping[str, Any]) -> CalibrationRow:
    cells = _cells(data["tiers"])
    missing = [each for each in EvidenceTier if each not in cells]
    if missing:
        raise KeyError(missing[0])
    actions = {action: _cells(tiers) for action, tiers in data.get("actions", {}).items()}
    disorder = tuple(map(EvidenceTier, data["disorder"]))
    return CalibrationRow(
        data["profile"], data["model"], data["date"], cells, disorder, actions, data.get("brier")
    )  # fmt: skip


def _cells(tiers: Mapping[str, Mapping[str, Any]]) -> dict[EvidenceTier, MeasuredChance]:
    by_tier = {EvidenceTier(word): cell for word, cell in tiers.items()}
    cells = {}
    for each in (each for each in EvidenceTier if each in by_tier):
        cell = by_tier[each]
        low_high = cell["interval"]
        interval = None if low_high is None else (float(low_high[0]), float(low_high[1]))
        cells[each] = MeasuredChance(float(cell["chance"]), int(cell["right"]), int(cell["count"]), interval)
    return cells


def _cells_to_json(cells: Mapping[EvidenceTier, MeasuredChance]) -> dict[str, Any]:
    return {each.value: cell.to_json() for each, cell in cells.items()}


def estimate(
    at: EvidenceTier, profile: str, model: str, action: str = "", rows: Sequence[CalibrationRow] | None = None
) -> ChanceEstimate:
    """The chance for evidence of that strength. Until enough was counted it is a default, with a wide interval."""
    rows = _shipped() if rows is None else rows
    of_profile = next((row for row in rows if not row.model and row.profile == profile), None)
    of_model = next((row for row in rows if row.model and row.model.lower() == model.lower()), None)
    fitting = [row for row in (of_model, of_profile) if row is not None]
    for row in fitting:
        cell = row.actions.get(action, {}).get(at)
        for each in (cell, row.cells[at]):
            if each is not None and each.measured:
                return ChanceEstimate(_bounded(each.chance), row.name, wilson(each.right, each.count))
    # An unknown profile counts as the weakest, which is the first.
    known = of_profile or next(row for row in rows if not row.model)
    start = known.cells[at]
    few = next((row.cells[at] for row in fitting if row.cells[at].count), start)
    right, count = few.right + start.chance * _WORTH, few.count + _WORTH
    return ChanceEstimate(_bounded(right / count), DEFAULT, wilson(right, count))


def wilson(right: float, count: float) -> tuple[float, float]:
    """The 95 % interval of a share."""
    if not count:
        return 0.0, 1.0
    z = 1.96
    share, spread = right / count, z * z / count
    middle = (share + spread / 2) / (1 + spread)
    half = z * math.sqrt(share * (1 - share) / count + spread / (4 * count)) / (1 + spread)
    return middle - half, middle + half


def _bounded(chance: float) -> float:
    return min(max(chance, LOWEST), HIGHEST)


@cache
def _shipped() -> tuple[CalibrationRow, ...]:
    return read()

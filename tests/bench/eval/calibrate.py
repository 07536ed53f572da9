"""Counts again how often answers with evidence of each strength were right: the table behind `confidence`.

    .venv/bin/python tests/bench/eval/calibrate.py --results DIR... [--table FILE] [--arm NAME] [--check]

Reads what `run.py --out DIR` left, of any endpoint. The rows of the models in it are counted again, those of other
models stay, and the rows of the profiles are the sums over their models. A strength that fewer than 20 answers reached
keeps its start value; its count and interval are written all the same. A strength that was right less often than a
weaker one is named: the order of the strengths is an assumption until then. Each action has counts of its own besides
those of all. The Brier score is cross-validated: each answer is predicted from the cases of the other folds, a case
being in one fold with all of its answers. With --check nothing is written, and the
exit status is 1 if the table is not what the results say.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import statistics
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the tests' folder, for bench

from bench.eval.table import Result

from stet_ls.engine.judges.calibration import (
    FILE,
    HIGHEST,
    LEAST_COUNT,
    LOWEST,
    CalibrationRow,
    EvidenceTier,
    MeasuredChance,
    estimate,
    read,
    wilson,
)
from stet_ls.engine.model.profiles.profiles import profile_for

ABOUT = (
    "Chances of being right by strength of evidence and model. A start value is a guess that no count has "
    "replaced yet. Written by tests/bench/eval/calibrate.py."
)
STARTS: Mapping[str, Sequence[float]] = {
    "tiny": (0.2, 0.35, 0.55, 0.7, 0.9, 0.9),
    "mid": (0.2, 0.55, 0.55, 0.7, 0.9, 0.9),
    "strong": (0.2, 0.75, 0.75, 0.75, 0.9, 0.9),
}
"""For each tier of each profile, the weakest first, until enough was counted: guesses, in the order that is assumed."""
SHIPPED = "stet"
"""The variant of the evaluation that is counted: the engine as it ships. The others judge less, on the same cases."""


_FOLDS = 5


@dataclass(frozen=True, slots=True)
class Counts:
    """How many answers of one model reached each strength, how many of them were right, and the last day's date.

    `actions` has the same of single actions.
    """

    count: Mapping[EvidenceTier, int]
    right: Mapping[EvidenceTier, int]
    date: str
    actions: Mapping[str, Counts] = field(default_factory=dict)


def main() -> int:
    """Writes the table, or compares it; says what was counted and what is out of order."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--results", type=Path, nargs="+", required=True, help="folders that run.py left")
    parser.add_argument("--table", type=Path, default=FILE, help="the table; default: the shipped one")
    parser.add_argument("--arm", default=SHIPPED, help="the variant that is counted")
    parser.add_argument("--check", action="store_true", help="write nothing, exit with 1 if the table differs")
    arguments = parser.parse_args()
    results = list(_results(arguments.results, arguments.arm))
    if not results:
        parser.error(f"no offered answer of the variant {arguments.arm!r} in {', '.join(map(str, arguments.results))}")
    known = [row for row in results if row.get("tier")]
    if len(known) < len(results):
        print(f"{len(results) - len(known)} results do not say their strength and are left out", file=sys.stderr)
    old = read(arguments.table)
    new = recount(old, known)
    for row in new:
        print(_printed_row(row))
    if arguments.check:
        return 0 if dumps(old) == dumps(new) else 1
    arguments.table.write_text(dumps(new), encoding="utf-8")
    return 0


def _results(folders: Iterable[Path], arm: str) -> Iterable[Result]:
    """Offered answers of one variant. What was not offered shows no chance of being right."""
    for folder in folders:
        for file in sorted(folder.glob("results-*.jsonl")):
            rows = map(json.loads, file.read_text("utf-8").splitlines())
            yield from (row for row in rows if row["arm"] == arm and row["offered"])


def recount(rows: Sequence[CalibrationRow], results: Iterable[Result]) -> tuple[CalibrationRow, ...]:
    """The table after these results: a row for each profile, the weakest first, then one for each model."""
    by_model: dict[str, list[Result]] = {}
    for result in results:
        by_model.setdefault(result["model"], []).append(result)
    kept = [row for row in rows if row.model and row.model not in by_model]
    counted = [_counted(model, found) for model, found in by_model.items()]
    models = sorted([*kept, *counted], key=lambda row: row.model)
    pooled = [_row(profile, "", _sum([each for each in models if each.profile == profile])) for profile in STARTS]
    return (*pooled, *models)


def _counted(model: str, found: Sequence[Result]) -> CalibrationRow:
    profile = profile_for(model).tier
    return replace(_row(profile, model, _count(found)), brier=cross_validated(found, profile))


def cross_validated(results: Sequence[Result], profile: str) -> float:
    """The mean squared error of chances that are counted without the fold of the answer that they predict."""
    errors = []
    for fold in range(_FOLDS):
        rest = [each for each in results if _fold(each) != fold]
        row = _row(profile, "", _count(rest) if rest else Counts({}, {}, ""))
        for each in (each for each in results if _fold(each) == fold):
            known = estimate(EvidenceTier(each["tier"]), profile, "", str(each.get("action", "")), [row])
            errors.append((known.chance - bool(each["passed"])) ** 2)
    return statistics.mean(errors)


def _fold(result: Result) -> int:
    return hashlib.sha256(str(result["case"]).encode()).digest()[0] % _FOLDS


def _count(results: Sequence[Result]) -> Counts:
    actions: dict[str, list[Result]] = {}
    for each in results:
        actions.setdefault(str(each.get("action", "")), []).append(each)
    own = {action: _plain(found) for action, found in actions.items() if action}
    return replace(_plain(results), actions=own)


def _plain(results: Sequence[Result]) -> Counts:
    count = Counter(EvidenceTier(each["tier"]) for each in results)
    right = Counter(EvidenceTier(each["tier"]) for each in results if each["passed"])
    return Counts(count, right, max(str(each.get("date", "")) for each in results))


def _sum(rows: Sequence[CalibrationRow]) -> Counts:
    date = max((row.date for row in rows), default="")
    actions = sorted({action for row in rows for action in row.actions})
    own = {action: _added([row.actions.get(action, {}) for row in rows], date) for action in actions}
    return replace(_added([row.cells for row in rows], date), actions=own)


def _added(tables: Sequence[Mapping[EvidenceTier, MeasuredChance]], date: str) -> Counts:
    count, right = Counter[EvidenceTier](), Counter[EvidenceTier]()
    for cells in tables:
        count.update({at: cell.count for at, cell in cells.items()})
        right.update({at: cell.right for at, cell in cells.items()})
    return Counts(count, right, date)


def _row(profile: str, model: str, counts: Counts) -> CalibrationRow:
    cells = _cells(profile, counts)
    own = {action: _cells(profile, each, every=False) for action, each in counts.actions.items()}
    return CalibrationRow(profile, model, counts.date, cells, disorder(cells), own)


def _cells(profile: str, counts: Counts, *, every: bool = True) -> dict[EvidenceTier, MeasuredChance]:
    """A cell for each strength, or for those alone that were counted."""
    starts = zip(EvidenceTier, STARTS[profile], strict=True)
    cells = {at: _cell(start, counts.right.get(at, 0), counts.count.get(at, 0)) for at, start in starts}
    return {at: cell for at, cell in cells.items() if every or cell.count}


def _cell(start: float, right: int, count: int) -> MeasuredChance:
    cell = MeasuredChance(start, right, count, wilson(right, count) if count else None)
    return replace(cell, chance=min(max(right / count, LOWEST), HIGHEST)) if cell.measured else cell


def disorder(cells: Mapping[EvidenceTier, MeasuredChance]) -> tuple[str, ...]:
    """The strengths that were measured and are right less often than a weaker one that was measured."""
    found, best = [], 0.0
    for at in EvidenceTier:
        if cells[at].measured:
            if cells[at].chance < best:
                found.append(at.value)
            best = max(best, cells[at].chance)
    return tuple(found)


def _printed_row(row: CalibrationRow) -> str:
    parts = [f"{row.name}:"]
    for at, cell in row.cells.items():
        low, high = cell.interval or (0.0, 1.0)
        interval = f", {100 * low:.0f}-{100 * high:.0f} %" if cell.count else ""
        word = "" if cell.measured else f" (start value; {LEAST_COUNT} are needed)"
        parts.append(f"{at} {cell.right}/{cell.count}{interval} -> {cell.chance:.2f}{word}")
    if row.disorder:
        parts.append(f"OUT OF ORDER: {', '.join(row.disorder)}")
    return "\n  ".join(parts)


def dumps(rows: Sequence[CalibrationRow]) -> str:
    """The table's text: a line for each strength, so that a new count is a readable diff."""
    blocks = []
    for row in rows:
        head = row.to_json()
        actions = [
            f"    {json.dumps(name)}: {{\n{_lines(cells, 5)}\n    }}" for name, cells in head.pop("actions").items()
        ]
        tiers = _lines(head.pop("tiers"), 4)
        fields = "".join(f"   {json.dumps(name)}: {json.dumps(value)},\n" for name, value in head.items())
        own = ',\n   "actions": {\n' + ",\n".join(actions) + "\n   }" if actions else ""
        blocks.append(f'  {{\n{fields}   "tiers": {{\n{tiers}\n   }}{own}\n  }}')
    return f'{{\n "about": {json.dumps(ABOUT)},\n "rows": [\n' + ",\n".join(blocks) + "\n ]\n}\n"


def _lines(cells: Mapping[str, object], indent: int) -> str:
    return ",\n".join(f"{' ' * indent}{json.dumps(at)}: {json.dumps(cell)}" for at, cell in cells.items())


if __name__ == "__main__":
    sys.exit(main())

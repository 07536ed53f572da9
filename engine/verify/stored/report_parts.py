"""What several machines found, each about a part of the units of one change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stet_ls.engine.api.evidence import Check, Ruling
from stet_ls.engine.errors import UsageError
from stet_ls.engine.verify.changes.change import Change
from stet_ls.engine.verify.changes.tree import tree_id
from stet_ls.engine.verify.changes.units import UnitChange, reported
from stet_ls.engine.verify.report import CheckResult, Report, UnitReport


@dataclass(frozen=True, slots=True)
class ReportPart:
    """The report on part `number` of `count`. `trees` are the ids of both trees."""

    number: int
    count: int
    trees: tuple[str, str]
    report: Report


def part_of(change: Change, report: Report, shard: tuple[int, int]) -> ReportPart:
    """A report as one part of several."""
    return ReportPart(*shard, (tree_id(change.base), tree_id(change.head)), report)


def merge(change: Change, units: Sequence[UnitChange], parts: Sequence[ReportPart]) -> Report:
    """The report of all parts. UsageError if one is missing or about something else."""
    count = max((each.count for each in parts), default=0)
    numbers = sorted(each.number for each in parts)
    if numbers != list(range(1, count + 1)):
        raise UsageError(f"the parts {', '.join(map(str, numbers))} are not the {count} parts of one run")
    trees = tree_id(change.base), tree_id(change.head)
    intent = parts[0].report.intent
    if other := next((each for each in parts if each.trees != trees or each.report.intent != intent), None):
        raise UsageError(f"part {other.number} is about another change or intent")
    reports = [each.report for each in parts]
    rows = [row for each in reports for row in each.units]
    known = {(row.unit.path, row.unit.name, row.unit.line): row.checks for row in rows}
    unknown = (CheckResult(Check.SYNTAX.value, Ruling.SKIPPED, "no part judged it"),)
    own = {(each.path, each.name, each.line): reported(each) for each in units}
    others = (row for row in rows if (row.unit.path, row.unit.name, row.unit.line) not in own)
    tests = {row.id: row for each in reports for row in each.tests}
    notes = dict.fromkeys(note for each in reports for note in each.notes)
    unjudged = dict.fromkeys(path for each in reports for path in each.unjudged)
    return Report(
        intent, change.base.name, change.head.name,
        (*others, *(UnitReport(unit, known.get(key, unknown)) for key, unit in own.items())),
        tuple(tests.values()), tuple(notes), tuple(unjudged), any(each.partial for each in reports),
        any(each.refused for each in reports), max(each.seconds for each in reports),
    )  # fmt: skip

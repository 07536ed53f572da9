"""The conclusion on a whole change as it is kept: the same two trees in the same environment get the same answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from stet_ls.engine.api.evidence import Check, Ruling
from stet_ls.engine.errors import UsageError
from stet_ls.engine.execution.runtime_provider import RuntimeProvider
from stet_ls.engine.verify.changes.change import Change
from stet_ls.engine.verify.changes.intent import ChangeIntent
from stet_ls.engine.verify.changes.trees import EditedTree, FolderTree
from stet_ls.engine.verify.changes.units import Pairing, UnitChange, UnitChangeKind, is_code
from stet_ls.engine.verify.receipt import tree_id
from stet_ls.engine.verify.report import CheckResult, Report, TestResult, UnitReport
from stet_ls.engine.verify.stored.result_cache import key_of
from stet_ls.validators.checkers.toolbox import Toolbox


@dataclass(frozen=True, slots=True)
class StoredUnit:
    """The checks of a unit, and the place by which it is found again."""

    path: str
    name: str
    line: int
    checks: tuple[CheckResult, ...]


@dataclass(frozen=True, slots=True)
class StoredReport:
    """What a report holds besides the texts of the trees. `others` are files without units."""

    units: tuple[StoredUnit, ...]
    others: tuple[StoredUnit, ...]
    tests: tuple[TestResult, ...]
    notes: tuple[str, ...]
    unjudged: tuple[str, ...] = ()


async def key_for(
    change: Change, intent: ChangeIntent, tools: Toolbox, runtimes: RuntimeProvider, *, runs_code: bool
) -> str:
    """What the conclusion on a change depends on; "" if that is unknown."""
    languages = sorted({each.language for each in change.files if is_code(each)}) if runs_code else []
    environments = [await runtimes.identity(change.root, each) for each in languages]
    if not all(environments):
        return ""
    trees = tree_id(change.base), tree_id(change.head)
    paths = [(each.path, each.was) for each in change.files]
    claim = intent.kind.value, intent.source
    own = sorted(tools.disabled), repr(replace(tools, disabled=frozenset()))  # a set has another order in each process
    return key_of("report", str(change.root), trees, paths, change.skipped, claim, own, environments, runs_code)


def store_report(report: Report, units: Sequence[UnitChange]) -> StoredReport:
    """A report to keep; `units` are those of its code."""
    known = {*units}
    rows = [(each.unit in known, StoredUnit(each.unit.path, each.unit.name, each.unit.line, each.checks))
            for each in report.units]  # fmt: skip
    own, others = (tuple(row for is_own, row in rows if is_own is wanted) for wanted in (True, False))
    return StoredReport(own, others, report.tests, report.notes, report.unjudged)


def restore_report(
    kept: StoredReport, change: Change, intent: ChangeIntent, units: Sequence[UnitChange], seconds: float
) -> Report | None:  # fmt: skip
    """The report of a kept conclusion; None if its units are not those of the change."""
    known, now = ([(each.path, each.name, each.line) for each in rows] for rows in (kept.units, units))
    if known != now:
        return None
    files = {each.path: each for each in change.files}
    if any(each.path not in files for each in kept.others):
        return None
    others = (
        UnitReport(
            UnitChange(files[each.path], each.name, each.line, UnitChangeKind.CHANGED, Pairing.NAME), each.checks
        )
        for each in kept.others
    )
    own = (UnitReport(unit, each.checks) for unit, each in zip(units, kept.units, strict=True))
    return Report(
        intent, change.base.name, change.head.name, (*others, *own), kept.tests, kept.notes, kept.unjudged,
        seconds=seconds,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class ReportPart:
    """What one of several machines found: the units of part `number` of `count`. `trees` are the ids of both trees."""

    number: int
    count: int
    trees: tuple[str, str]
    intent: ChangeIntent
    report: StoredReport
    partial: bool
    refused: bool
    seconds: float


def part_of(change: Change, units: Sequence[UnitChange], report: Report, shard: tuple[int, int]) -> ReportPart:
    """A report as one part of several. `units` are those of the whole change."""
    trees = tree_id(change.base), tree_id(change.head)
    kept = store_report(report, units)
    return ReportPart(*shard, trees, report.intent, kept, report.partial, report.refused, report.seconds)


def merge(change: Change, units: Sequence[UnitChange], parts: Sequence[ReportPart]) -> Report:
    """The report of all parts. UsageError if one is missing or about something else."""
    count = max((each.count for each in parts), default=0)
    numbers = sorted(each.number for each in parts)
    if numbers != list(range(1, count + 1)):
        raise UsageError(f"the parts {', '.join(map(str, numbers))} are not the {count} parts of one run")
    trees = tree_id(change.base), tree_id(change.head)
    if other := next((each for each in parts if each.trees != trees or each.intent != parts[0].intent), None):
        raise UsageError(f"part {other.number} is about another change or intent")
    known = {(row.path, row.name, row.line): row.checks for each in parts for row in each.report.units}
    unknown = (CheckResult(Check.SYNTAX.value, Ruling.SKIPPED, "no part judged it"),)
    files = {each.path: each for each in change.files}
    others = (
        UnitReport(UnitChange(files[row.path], row.name, row.line, UnitChangeKind.CHANGED, Pairing.NAME), row.checks)
        for each in parts
        for row in each.report.others
        if row.path in files
    )
    own = (UnitReport(each, known.get((each.path, each.name, each.line), unknown)) for each in units)
    tests = {row.id: row for each in parts for row in each.report.tests}
    notes = dict.fromkeys(note for each in parts for note in each.report.notes)
    unjudged = dict.fromkeys(path for each in parts for path in each.report.unjudged)
    return Report(
        parts[0].intent, change.base.name, change.head.name, (*others, *own), tuple(tests.values()), tuple(notes),
        tuple(unjudged), any(each.partial for each in parts), any(each.refused for each in parts),
        max(each.seconds for each in parts),
    )  # fmt: skip


def is_unchanged(change: Change) -> bool:
    """Whether the working folder still holds what was judged. Reads it: not for an event loop."""
    head = change.head.tree if isinstance(change.head, EditedTree) else change.head
    if not isinstance(head, FolderTree):
        return True
    return replace(head).files == head.files  # a new tree reads the disk again

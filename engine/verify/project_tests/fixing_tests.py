"""The tests that show a fix: they fail on the old code and pass on the new code. A fix leaves all other code equal."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field

from stet_ls.engine.api.evidence import Check, Ruling
from stet_ls.engine.runners.report import CaseOutcome, TestReport, TracedLines
from stet_ls.engine.verify.changes.units import UnitChange
from stet_ls.engine.verify.project_tests.edited_tests import test_units
from stet_ls.engine.verify.project_tests.outcome_table import shows_fix
from stet_ls.engine.verify.project_tests.runs_of_tests import TestRuns
from stet_ls.engine.verify.report import CheckResult, TestResult
from stet_ls.validators.source import Source

OnText = Callable[[str, str], Awaitable[TestReport | None]]


@dataclass(frozen=True, slots=True)
class FixingTests:
    """The ids of such tests, what they ran in the new code, and the texts of the files of tests."""

    ids: frozenset[str] = frozenset()
    traced: Mapping[str, TracedLines] = field(default_factory=dict, repr=False)
    texts: Mapping[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def among(cls, rows: Iterable[TestResult], runs: TestRuns) -> FixingTests:
        """Those of some results."""
        ids = frozenset(each.id for each in rows if shows_fix(each))
        return cls(ids, runs.after.traced if runs.after is not None else {}, runs.selected.texts)

    async def unshown(self, unit: UnitChange, on_text: OnText | None) -> CheckResult | None:
        """What to say of a unit that behaves differently, if the fix does not need it: none of these tests runs it, or
        all of them pass with the former unit in the new code, too. `on_text` runs the tests on another text of a file;
        None if nothing else changed.
        """
        running = await asyncio.to_thread(lambda: {each for each in self.ids if self._runs(each, unit)})
        if not running:
            return _unshown(f"behaves differently, but no test that the fix makes pass runs `{unit.name}`")
        former = await asyncio.to_thread(_with_former, unit) if on_text is not None else ""
        if on_text is None or not former:
            return None
        report = await on_text(unit.path, former)
        if report is None or report.starved:
            return CheckResult.late(Check.TESTS)
        passing = {each.id for each in report.cases if each.outcome is CaseOutcome.PASSED}
        if not running <= passing:
            return None
        return _unshown(f"behaves differently, but the fix passes its tests with the former `{unit.name}`, too")

    def _runs(self, test: str, unit: UnitChange) -> bool:
        """Whether a test runs a unit; where its lines are unknown, whether it names it."""
        lines = self.traced[unit.path].ran.get(test) if unit.path in self.traced else None
        if lines and unit.parts:
            return not lines.isdisjoint(unit.parts[1])
        path, _, name = test.partition("::")
        whole = self.texts.get(path, "")
        text = test_units(whole, unit.file.language).get(name.partition("[")[0].replace("::", "."), whole)
        return re.search(rf"\b{re.escape(unit.name.rpartition('.')[2])}\b", text) is not None


def differs(results: Iterable[CheckResult]) -> bool:
    """Whether a unit with these results behaves differently."""
    return any(each.check == Check.DIFFERENTIAL and each.differing for each in results)


def _unshown(detail: str) -> CheckResult:
    return CheckResult(Check.TESTS.value, Ruling.UNKNOWN, detail, noted=True, opens=True)


def _with_former(unit: UnitChange) -> str:
    """The new text of a unit's file with the former unit in it; "" if it has no place there."""
    if unit.parts is None:
        return ""
    old, new = (Source(unit.file.text(data) or "") for data in (unit.file.before, unit.file.after))
    lines = [source.text.splitlines(keepends=True) for source in (old, new)]
    start, stop = unit.parts[1].start - 1, unit.parts[1].stop - 1
    own = lines[0][unit.parts[0].start - 1 : unit.parts[0].stop - 1]
    return "".join((*lines[1][:start], *own, *lines[1][stop:]))

"""The tests that show a fix: they fail on the old code and pass on the new code. A fix leaves all other code equal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from stet_ls.engine.api.evidence import Check, Ruling
from stet_ls.engine.runners.report import TracedLines
from stet_ls.engine.verify.changes.units import UnitChange
from stet_ls.engine.verify.project_tests.edited_tests import test_units
from stet_ls.engine.verify.project_tests.outcome_table import shows_fix
from stet_ls.engine.verify.project_tests.runs_of_tests import TestRuns
from stet_ls.engine.verify.report import CheckResult, TestResult


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

    def unshown(self, unit: UnitChange, results: Iterable[CheckResult]) -> CheckResult | None:
        """What to say of a unit that behaves differently and that none of these tests runs. Parses."""
        differs = any(each.check == Check.DIFFERENTIAL and each.differing for each in results)
        if not differs or any(self._runs(each, unit) for each in self.ids):
            return None
        detail = f"behaves differently, but no test that the fix makes pass runs `{unit.name}`"
        return CheckResult(Check.TESTS.value, Ruling.UNKNOWN, detail, noted=True, opens=True)

    def _runs(self, test: str, unit: UnitChange) -> bool:
        """Whether a test runs a unit; where its lines are unknown, whether it names it."""
        lines = self.traced[unit.path].ran.get(test) if unit.path in self.traced else None
        if lines and unit.parts:
            return not lines.isdisjoint(unit.parts[1])
        path, _, name = test.partition("::")
        whole = self.texts.get(path, "")
        text = test_units(whole, unit.file.language).get(name.partition("[")[0].replace("::", "."), whole)
        return re.search(rf"\b{re.escape(unit.name.rpartition('.')[2])}\b", text) is not None

"""The conclusion on a change: of each unit, of the tests, of the whole."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from hashlib import sha256
from typing import Any

from stet_ls.engine.api.evidence import Attachment, Check, Evidence, Ruling
from stet_ls.engine.verify.changes.intent import ChangeIntent
from stet_ls.engine.verify.changes.reported_unit import ReportedUnit

SCHEMA = "stet.verify/1"
_TESTS = Check.TESTS.value
_LINE_NUMBER = re.compile(r":\d+\b|\blines? \d+")


class Conclusion(StrEnum):
    """REFUTED: something shows that the change is wrong. UNPROVEN: nothing shows that it is right."""

    OK = "ok"
    UNPROVEN = "unproven"
    REFUTED = "refuted"


NO_TIME = "not run: no time left"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What one check found. `refutes`: the change is wrong because of it. `noted`: a reader should know it anyway.

    `proves`: it ran the unit, and found it right. `opens`: whatever else was proven, the unit stays unproven.
    `line` counts from 1 in the new text; 0 for the unit's own. `differing` of the compared `inputs` behave differently.
    `out_of_time`: it did not run, as no time was left.
    """

    check: str
    status: Ruling
    detail: str
    refutes: bool = False
    noted: bool = False
    proves: bool = False
    opens: bool = False
    line: int = 0
    seconds: float = 0.0
    attachments: tuple[Attachment, ...] = field(default=(), repr=False)
    inputs: int = 0
    differing: int = 0
    out_of_time: bool = False

    @classmethod
    def late(cls, check: Check) -> CheckResult:
        """The result of a check for which no time was left."""
        return cls(check.value, Ruling.SKIPPED, NO_TIME, out_of_time=True)

    @classmethod
    def of(cls, evidence: Evidence, *, noted: bool = False, proves: bool = False, line: int = 0) -> CheckResult:
        """The result of a judge's evidence; trusted failure refutes."""
        refutes = evidence.verdict is Ruling.FAIL and evidence.trusted
        return cls(
            evidence.label, evidence.verdict, evidence.detail, refutes, noted, proves, False, line, evidence.seconds,
            evidence.attachments, evidence.count, evidence.differing,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class VerifyFinding:
    """One line for a person. `id` is the same for the same finding in the same text.

    `edited_line` is a line that the change adds or edits, 0 if there is none: reviews show nothing elsewhere.
    """

    path: str
    line: int
    unit: str
    check: str
    detail: str
    refutes: bool
    attachments: tuple[Attachment, ...] = field(default=(), repr=False)
    edited_line: int = 0

    @property
    def id(self) -> str:
        """Identifies it among the findings of a change."""
        return self._digest(self.detail)[:12]

    @property
    def fingerprint(self) -> str:
        """The same for the same finding of a later change, wherever its lines have moved."""
        return self._digest(_LINE_NUMBER.sub("", self.detail))

    def _digest(self, detail: str) -> str:
        parts = (self.path, self.unit, self.check, detail)
        return sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()


@dataclass(frozen=True, slots=True)
class UnitReport:
    """A unit with its checks."""

    unit: ReportedUnit
    checks: tuple[CheckResult, ...] = ()

    @property
    def conclusion(self) -> Conclusion:
        """Only what was run and proves something is ok."""
        if any(each.refutes for each in self.checks):
            return Conclusion.REFUTED
        proven = any(each.proves for each in self.checks) and not any(each.opens for each in self.checks)
        return Conclusion.OK if proven else Conclusion.UNPROVEN

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it is unproven, the last two reasons."""
        details = [each.detail for each in self.checks if each.status is not Ruling.PASS and each.detail]
        return tuple(dict.fromkeys(details[-2:])) or ("nothing ran it",)

    @property
    def why(self) -> str:
        """The same as one text."""
        return "; ".join(self.reasons)

    def to_json(self) -> dict[str, Any]:
        """The row of the report's JSON."""
        unit = self.unit
        return {
            "path": unit.path, "line": unit.line, "name": unit.name, "was": unit.was, "pairing": unit.pairing,
            "change": unit.change, "verdict": self.conclusion.value,
            "checks": [
                {"check": each.check, "status": each.status.value, "detail": each.detail, "refutes": each.refutes,
                 "line": each.line or unit.line, "seconds": round(each.seconds, 3)}
                for each in self.checks
            ],
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class TestResult:
    """A test whose outcome or text differs between the trees.

    The outcomes are "passed", "failed" and so on, "" if the test does not exist or was not run there. `edit` is
    "unchanged", "edited", "added" or "removed". `opens`: the change is not ok because of it. `line` is that of the
    test, from 1, in the new text if it is there.
    """

    __test__ = False

    id: str
    edit: str
    old_on_old: str = ""
    old_on_new: str = ""
    new_on_old: str = ""
    new_on_new: str = ""
    detail: str = ""
    refutes: bool = False
    opens: bool = False
    line: int = 1

    def to_json(self) -> dict[str, Any]:
        """The row of the report's JSON."""
        return {
            "id": self.id, "line": self.line, "edit": self.edit,
            "old_on_old": self.old_on_old, "old_on_new": self.old_on_new,
            "new_on_old": self.new_on_old, "new_on_new": self.new_on_new, "detail": self.detail,
            "refutes": self.refutes,
        }  # fmt: skip


@dataclass(frozen=True)
class Report:
    """The conclusion on a change. `unjudged` are changed files that no judge can judge and that are not prose.
    `partial`: the time was up before all was run. `refused`: the sandbox was too weak.
    """

    intent: ChangeIntent
    base: str
    head: str
    units: tuple[UnitReport, ...] = ()
    tests: tuple[TestResult, ...] = ()
    notes: tuple[str, ...] = ()
    unjudged: tuple[str, ...] = ()
    partial: bool = False
    refused: bool = False
    seconds: float = 0.0

    @property
    def conclusion(self) -> Conclusion:
        """The worst of all; a change of nothing that can be judged is unproven, no change at all is ok."""
        if any(each.refutes for each in self.tests):
            return Conclusion.REFUTED
        conclusions = [each.conclusion for each in self.units]
        if Conclusion.REFUTED in conclusions:
            return Conclusion.REFUTED
        is_open = (
            self.partial
            or bool(self.unjudged)
            or any(each.opens for each in self.tests)
            or Conclusion.UNPROVEN in conclusions
            or (not conclusions and bool(self.notes))
        )
        return Conclusion.UNPROVEN if is_open else Conclusion.OK

    @property
    def findings(self) -> tuple[VerifyFinding, ...]:
        """The findings, refutations first. A file's own finding appears once, at the unit that holds its line."""
        found: dict[tuple[str, str, str], tuple[int, VerifyFinding]] = {}
        for distance, each in sorted(self._findings(), key=lambda row: not row[1].refutes):
            key = (each.path if each.check != _TESTS else each.id, each.check, each.detail)
            if key not in found or distance < found[key][0]:
                found[key] = distance, each
        return tuple(each for _, each in found.values())

    def _findings(self) -> Iterator[tuple[int, VerifyFinding]]:
        """Each finding with the number of lines from the start of its unit, if its line is in it."""
        for test in self.tests:
            if test.detail:
                path, _, name = test.id.partition("::")
                yield 0, VerifyFinding(path, test.line, name, "tests", test.detail, test.refutes)
        for each in self.units:
            for check in each.checks:
                if check.refutes or check.noted:
                    edited = each.unit.edited_lines
                    line = check.line or each.unit.line
                    distance = line - each.unit.line
                    yield distance if distance >= 0 else line, VerifyFinding(
                        each.unit.path, line, each.unit.label, check.check, check.detail, check.refutes,
                        check.attachments, line if line in edited else next(iter(edited), 0),
                    )  # fmt: skip

    def edited_place(self, finding: VerifyFinding) -> tuple[str, int]:
        """The file and line to show a finding at: one that the change adds or edits, if there is any."""
        if finding.edited_line or self._first_edited is None:
            return finding.path, finding.edited_line or finding.line
        return self._first_edited

    @cached_property
    def _first_edited(self) -> tuple[str, int] | None:
        """A failing test is shown where the behavior changed, else at code rather than at tests."""
        fitting = sorted(
            self.units, key=lambda each: (not any(one.differing for one in each.checks), each.unit.of_tests)
        )
        return next(((each.unit.path, lines[0]) for each in fitting if (lines := each.unit.edited_lines)), None)

    def to_json(self, *, units: Sequence[UnitReport] | None = None) -> dict[str, Any]:
        """The report as `stet.verify/1`."""
        return {
            "schema": SCHEMA, "verdict": self.conclusion.value, "partial": self.partial,
            "intent": {"kind": self.intent.kind.value, "source": self.intent.source},
            "base": self.base, "head": self.head,
            "findings": [
                {"id": each.id, "path": each.path, "line": each.line, "unit": each.unit, "check": each.check,
                 "detail": each.detail, "refutes": each.refutes}
                for each in self.findings
            ],
            "units": [each.to_json() for each in (self.units if units is None else units)],
            "tests": [each.to_json() for each in self.tests],
            "notes": list(self.notes), "unjudged": list(self.unjudged), "seconds": round(self.seconds, 3),
        }  # fmt: skip

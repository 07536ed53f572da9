"""What the tools do, as values: a refusal is a result with its reason, not an error."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from contextlib import AsyncExitStack, nullcontext
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Literal

from stet_ls.engine.api.actions import CHANGED_CODE
from stet_ls.engine.api.evidence import Check, Ruling
from stet_ls.engine.api.request import Request
from stet_ls.engine.errors import StetError, UsageError
from stet_ls.engine.execution.environment_provisioning import JobResources
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.table import judge_of
from stet_ls.engine.verify.changes.read_trees import ChangeQuery
from stet_ls.engine.verify.report import CheckResult, Conclusion, Report, UnitReport, VerifyFinding
from stet_ls.engine.workspace.git import project_top
from stet_ls.server.cli.agents.fenced import clean, clean_block, fence
from stet_ls.server.cli.agents.judging import runtimes_for
from stet_ls.server.cli.agents.verified_report import report_of
from stet_ls.server.cli.hook import recorded_tree, sessions
from stet_ls.server.cli.mcp import start_folder
from stet_ls.server.cli.mcp.results import (
    CompareResult,
    FindingResult,
    FindingRow,
    UnprovenUnit,
    VerifyResult,
    fitted_result,
)
from stet_ls.validators.languages import language
from stet_ls.validators.source import Source

_MOST_KEPT = 500
"""Findings that `get_finding` knows, the newest."""
_MOST_FILE = 3_000
_MOST_FILES = 2
_MOST_ROWS = 30
_MOST_TEXT = 500_000


class Tools:
    """The tools for one start folder, and the findings that they returned."""

    def __init__(self, start: Path) -> None:
        self._start = start
        self._findings: OrderedDict[str, VerifyFinding] = OrderedDict()

    async def verify(self, root: str, base: str, paths: tuple[str, ...], intent: str, budget: float) -> VerifyResult:
        """Judges a working folder against a revision, else against the newest session's start, else against HEAD."""
        try:
            report = await self._report(root, base, paths, intent, budget)
        except (StetError, OSError) as error:
            return VerifyResult(verdict="refused", reason=clean(str(error)))
        return fitted_result(self._verify_result(report))

    async def compare(
        self, old: str, new: str, named: str, unit: str, path: str, base: str, budget: float
    ) -> CompareResult:
        """Compares two texts, or a file with its revision."""
        try:
            if bool(path) == bool(old or new):
                raise UsageError("give `old` and `new`, or `path` and `base`")
            if path:
                return self._unit_result(await self._report(".", base, (path,), "", budget), unit)
            return await self._texts(old, new, named, unit, budget)
        except (StetError, OSError) as error:
            return CompareResult(verdict="refused", reason=clean(str(error)))

    def finding(self, name: str) -> FindingResult:
        """A finding that an earlier call returned."""
        found = self._findings.get(name)
        if found is None:
            return FindingResult(found=False, reason="no finding of this server has this id; call verify_change first")
        files = [
            f"{clean(each.name)}\n{fence(clean_block(each.text, _MOST_FILE).splitlines(), _MOST_FILE + 200)}"
            for each in found.attachments[:_MOST_FILES]
        ]
        row = self._row(found)
        return FindingResult(
            found=True, path=row.path, line=row.line, unit=row.unit, check=row.check, detail=row.detail, files=files
        )

    async def _report(self, root: str, base: str, paths: tuple[str, ...], intent: str, budget: float) -> Report:
        folder = start_folder.folder_in(self._start, root)
        within = start_folder.paths_in(self._start, folder, paths)
        revision = start_folder.revision(self._start, folder, base)
        top = project_top(folder)
        tree = recorded_tree.tree_named(top, sessions.newest_base(top)) if not revision else None
        asked = ChangeQuery(folder, base=revision, paths=within, base_tree=tree)
        return await report_of(asked, budget=budget, intent=intent)

    def _verify_result(self, report: Report) -> VerifyResult:
        unproven = [each for each in report.units if each.conclusion is Conclusion.UNPROVEN]
        findings = [self._row(each) for each in report.findings]
        return VerifyResult(
            verdict=report.conclusion.value,
            intent=str(report.intent),
            changed_units=len(report.units),
            changed_tests=len(report.tests),
            findings=findings[:_MOST_ROWS],
            findings_left_out=max(len(findings) - _MOST_ROWS, 0),
            unproven=[_unproven(each) for each in unproven[:_MOST_ROWS]],
            unproven_left_out=max(len(unproven) - _MOST_ROWS, 0),
            notes=[clean(note) for note in report.notes[:10]],
            partial=report.partial,
            seconds=round(report.seconds, 1),
        )

    def _row(self, finding: VerifyFinding) -> FindingRow:
        self._findings[finding.id] = finding
        while len(self._findings) > _MOST_KEPT:
            self._findings.popitem(last=False)
        return FindingRow(
            id=finding.id,
            path=clean(finding.path),
            line=finding.line,
            unit=clean(finding.unit),
            check=finding.check,
            detail=clean(finding.detail),
            refutes=finding.refutes,
        )

    def _unit_result(self, report: Report, unit: str) -> CompareResult:
        """The comparison out of a report on one file."""
        compared = [
            (each.unit, check)
            for each in report.units
            for check in each.checks
            if check.check == Check.DIFFERENTIAL and unit in ("", each.unit.name)
        ]
        if not compared:
            what = f"`{unit}`" if unit else "the file"
            return CompareResult(verdict="unknown", reason=clean(f"{what} has no change that can be compared"))
        changed, check = min(compared, key=lambda pair: _ORDER.index(pair[1].status))
        return self._compared(changed.path, changed.line, changed.label, check)

    async def _texts(self, old: str, new: str, named: str, unit: str, budget: float) -> CompareResult:
        row = language(named)
        if row is None:
            raise UsageError(f"unknown language `{named}`")
        if max(len(old), len(new)) > _MOST_TEXT:
            raise UsageError(f"a text is longer than {_MOST_TEXT:,} characters")
        until = monotonic() + budget
        async with AsyncExitStack() as held, runtimes_for(self._start) as (_, runtimes):
            helper = JobResources(held, lambda *_: nullcontext(), lambda _: None)
            runtime = await runtimes.runtime(Request(CHANGED_CODE, row.id, Source(new)), helper)
            runtime = replace(await runtime.fit_language(row.id, old, new), until=until)
            case = Case(CHANGED_CODE, row.id, None, Source(old), Source(new), unit, runtime=runtime)
            evidence = await judge_of(Check.DIFFERENTIAL).judge(case)
        return self._compared("", 0, unit, CheckResult.of(evidence), evidence.count)

    def _compared(self, path: str, line: int, unit: str, check: CheckResult, inputs: int = 0) -> CompareResult:
        row = self._row(VerifyFinding(path, line, unit, check.check, check.detail, check.refutes, check.attachments))
        return CompareResult(verdict=_COMPARED[check.status], detail=row.detail, inputs=inputs, finding=row.id)


_ORDER = (Ruling.FAIL, Ruling.UNKNOWN, Ruling.SKIPPED, Ruling.PASS)
_COMPARED: Mapping[Ruling, Literal["equal", "different", "unknown"]] = {
    Ruling.PASS: "equal",
    Ruling.FAIL: "different",
    Ruling.UNKNOWN: "unknown",
    Ruling.SKIPPED: "unknown",
}


def _unproven(each: UnitReport) -> UnprovenUnit:
    return UnprovenUnit(path=clean(each.unit.path), unit=clean(each.unit.label), why=clean(each.why, 160))

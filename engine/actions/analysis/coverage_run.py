"""Runs the tests that touch a file in the sandbox and measures which of its lines and branches they reach."""

from __future__ import annotations

from stet_ls.engine.api.request import Request
from stet_ls.engine.job.job import Job
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.project_tests.judge import covering
from stet_ls.engine.plurals import plural
from stet_ls.engine.runners.report import CaseOutcome, RunCoverage, TestReport
from stet_ls.validators.metrics.coverage import Coverage, CoverageBranch
from stet_ls.validators.metrics.coverage_reports import CoveragePiece
from stet_ls.validators.source import Source

_PASSED = frozenset({CaseOutcome.PASSED, CaseOutcome.XFAILED})


async def run_coverage(job: Job, request: Request, after: Source) -> Coverage | str:
    """The coverage of the request's file with the text `after`; a sentence that says why it could not be measured."""
    runtime = await job.runtime(request.source.text, after.text)
    case = Case(request.action, request.language, request.path, request.source, after, tools=job.tools, runtime=runtime)
    report = await covering(case)
    if isinstance(report, str):
        return f"Coverage: {report}."
    if report.inconclusive or not report.cases:
        return f"Coverage: the tests did not run: {report.why_not}."
    if report.coverage is None or report.coverage.why_not:
        reason = report.coverage.why_not if report.coverage else f"the test runner {report.runner} does not measure it"
        return f"Coverage: {reason}."
    assert request.path is not None, "tests of a document that was never saved do not run"
    root = runtime.root_of(request.path) if runtime else None
    path = request.path.relative_to(root).as_posix() if root else request.path.name
    return _coverage(report, report.coverage, path)


def _coverage(report: TestReport, measured: RunCoverage, path: str) -> Coverage:
    hit, missed = measured.lines.get(path, ()), measured.missing.get(path, ())
    pieces = [CoveragePiece(line - 1, line - 1, line in hit) for line in sorted({*hit, *missed})]
    branches = [
        CoverageBranch(line - 1, to - 1 if to else None, table is measured.taken)
        for table in (measured.taken, measured.untaken)
        for line, to in table.get(path, ())
    ]
    return Coverage(_words(report), tuple(pieces), "" if pieces else "no test loads it", tuple(branches), has_run=True)


def _words(report: TestReport) -> str:
    passed = sum(case.outcome in _PASSED for case in report.cases)
    other = len(report.cases) - passed
    return f"{plural(passed, 'test')} run now, {report.runner}" + (f"; {other} did not pass" if other else "")

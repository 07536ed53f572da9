"""Suites of a few lines for the runners: what checks them, and how their cases are read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from stet_ls.engine.runners.report import TestReport

Check = Callable[..., Awaitable[TestReport]]


def outcomes(report: TestReport) -> dict[str, str]:
    """Each case's outcome by its id without the file."""
    return {case.id.partition("::")[2] or case.id: case.outcome.value for case in report.cases}

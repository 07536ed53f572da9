"""Suites of a few lines for the runners: what checks them, and how their cases are read."""

from __future__ import annotations

import shutil
from collections.abc import Awaitable, Callable

import pytest

from stet_ls.engine.sandbox.runners.report import TestReport

Check = Callable[..., Awaitable[TestReport]]


def needs(*programs: str) -> pytest.MarkDecorator:
    """Skips where a program is missing, and says which."""
    absent = [program for program in programs if shutil.which(program) is None]
    return pytest.mark.skipif(bool(absent), reason=f"not on this machine: {', '.join(absent)}")


def outcomes(report: TestReport) -> dict[str, str]:
    """Each case's outcome by its id without the file."""
    return {case.id.partition("::")[2] or case.id: case.outcome.value for case in report.cases}

"""`dotnet test`: its console output is read from a recorded text; without `dotnet`, the report says so."""

from __future__ import annotations

import shutil

import pytest
from support.suites import Check

from stet_ls.engine.runners.languages.csharp import CSharp
from stet_ls.engine.runners.plan import TestPlan
from stet_ls.engine.runners.report import SuiteOutcome

SAID = """  Passed Box.Tests.Good [3 ms]
  Failed Box.Tests.Wrong [12 ms]
  Error Message:
   Assert.Equal() Failure
  Stack Trace:
     at Box.Tests.Wrong() in /box/Tests.cs:line 9
  Skipped Box.Tests.Later [1 ms]
Total tests: 3
"""


def test_the_output_of_dotnet_is_parsed() -> None:
    lines = [{"event": "line", "step": "test", "stream": "out", "text": line} for line in SAID.splitlines()]
    end = [{"event": "exit", "step": "test", "code": 1, "why": "", "seconds": 1.0}, {"event": "done"}]

    whole = CSharp().read(TestPlan("csharp"), [*lines, *end], "")
    cut = CSharp().read(TestPlan("csharp"), [*lines[1:], *end], "")

    assert [(case.id, case.outcome.value) for case in whole.cases] == [
        ("Box.Tests.Good", "passed"),
        ("Box.Tests.Wrong", "failed"),
        ("Box.Tests.Later", "skipped"),
    ]
    assert whole.cases[1].failure
    assert whole.cases[1].failure.message == "Assert.Equal() Failure"
    assert (whole.finished, cut.finished) == (True, False), "its count has to be that of the cases"


async def test_a_missing_dotnet_is_reported_with_an_install_hint(check: Check) -> None:
    if shutil.which("dotnet"):
        pytest.skip("dotnet is on this machine")

    report = await check("csharp", {"Tests.cs": "class Tests {}\n"})

    assert report.outcome is SuiteOutcome.NO_RUNNER
    assert ".NET SDK" in report.install

"""Java in the box: mains under assertions; JUnit where its console is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support.processes.tools import needs
from support.suites import Check, outcomes

from stet_ls.engine.runners.language_table import expected
from stet_ls.engine.runners.plan import TestPlan
from stet_ls.engine.runners.report import FrameOrigin, SuiteOutcome

pytestmark = needs("java", "javac")


def main(name: str, body: str) -> str:
    return f"package p;\nclass {name} {{\n  public static void main(String[] words) {{\n    {body}\n  }}\n}}\n"


CODE = {"p/Code.java": "package p;\nclass Code {\n  static int at(int i) { int[] none = {}; return none[i]; }\n}\n"}


async def test_each_file_is_a_case(check: Check) -> None:
    report = await check(
        "java",
        {
            "p/Good.java": main("Good", 'System.out.println("seen");'),
            "p/Wrong.java": main("Wrong", 'assert 1 == 2 : "no";'),
            "p/Crash.java": main("Crash", "Code.at(3);"),
            "p/Leaves.java": main("Leaves", 'System.out.println("5 passed"); System.exit(0);'),
        },
        CODE,
    )

    assert report.outcome is SuiteOutcome.RED, report.detail
    assert outcomes(report) == {
        "p/Good.java": "passed",
        "p/Wrong.java": "failed",
        "p/Crash.java": "failed",
        "p/Leaves.java": "error",
    }
    wrong, crash = report.case("p/Wrong.java"), report.case("p/Crash.java")
    assert wrong
    assert wrong.failure
    assert (wrong.failure.type, wrong.failure.message) == ("AssertionError", "no")
    assert crash
    assert crash.failure
    assert crash.failure.deepest
    assert (crash.failure.deepest.path, crash.failure.deepest.line) == ("p/Code.java", 3)
    assert crash.failure.deepest.origin is FrameOrigin.PROJECT


async def test_a_compile_error_has_its_location(check: Check) -> None:
    report = await check("java", {"A.java": "class A {\n  int x = nothing;\n}\n"})

    assert (report.outcome, report.collection[0].failure.place) == (SuiteOutcome.ERROR, ("A.java", 2, 0))


JUNIT = {
    "p/MoreTest.java": """package p;
import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.*;
class MoreTest {
  @Test void good() {}
  @Test void wrong() { assertEquals(4, 3); }
  @org.junit.jupiter.api.RepeatedTest(2) void twice() {}
  @Disabled("not now") @Test void skipped() {}
}
"""
}


async def test_junit_reports_each_test(check: Check) -> None:
    jars = sorted(Path.home().glob(".m2/**/junit-platform-console-standalone-*.jar"))
    jars += [Path(path) for path in [os.environ.get("JUNIT_CONSOLE", "")] if path]
    if not jars:
        pytest.skip("not installed: junit-platform-console-standalone.jar (JUNIT_CONSOLE may name one)")

    report = await check("java", JUNIT, binds=(jars[-1],))

    assert report.outcome is SuiteOutcome.RED, report.detail
    output = outcomes(report)
    assert (output["good"], output["wrong"], output["skipped"]) == ("passed", "failed", "skipped")
    assert len(report.cases) == 5, "one for each time of a repeated test"
    leaves = {
        "p/ATest.java": JUNIT["p/MoreTest.java"].replace("MoreTest", "ATest").replace("{}", "{ System.exit(0); }")
    }
    assert (await check("java", leaves, binds=(jars[-1],))).outcome is SuiteOutcome.INCOMPLETE
    wrong = report.case("p/MoreTest.java::wrong")
    assert wrong
    assert wrong.failure
    assert wrong.failure.comparison
    assert (wrong.failure.comparison.left, wrong.failure.comparison.right) == ("3", "4")


async def test_without_its_console_launcher_junit_is_reported_as_missing(check: Check) -> None:
    report = await check("java", JUNIT)

    assert expected(TestPlan("java", tuple(JUNIT), {name: text.encode() for name, text in JUNIT.items()})) == (
        "p/MoreTest.java::good",
        "p/MoreTest.java::wrong",
        "p/MoreTest.java::skipped",
    )

    assert (report.runner, report.outcome) == ("junit", SuiteOutcome.NO_RUNNER)
    assert "junit-platform-console-standalone" in report.install

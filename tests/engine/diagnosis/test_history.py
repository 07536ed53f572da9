"""How failures are passed on from one candidate to the next, and what is searched in them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stet_ls.engine.diagnosis.diagnose import diagnose, repair_orders
from stet_ls.engine.diagnosis.diagnosis import Cause, CodeFacts, normalized
from stet_ls.engine.diagnosis.fixes import Fix
from stet_ls.engine.runners.report import (
    AssertComparison,
    CaseFailure,
    CaseOutcome,
    CaseResult,
    Frame,
    FrameOrigin,
    Phase,
    SuiteOutcome,
    TestReport,
)
from stet_ls.validators.source import Source

ABOUT = CodeFacts(frozenset({"solution.py"}), unit="add")


def report(left: str = "-1", test: str = "test_solution.py::test_add") -> TestReport:
    frame = Frame("test_solution.py", 3, "test_add", FrameOrigin.TEST)
    failure = CaseFailure(
        "AssertionError",
        f"assert {left} == 3",
        Phase.CALL,
        comparison=AssertComparison("==", left, "3"),
        frames=(frame,),
    )
    return TestReport("pytest", SuiteOutcome.RED, cases=(CaseResult(test, CaseOutcome.FAILED, failure=failure),))


def test_the_signature_of_a_failure_ignores_its_values() -> None:
    (one,), (other,) = diagnose(report("-1"), ABOUT), diagnose(report("-27"), ABOUT)
    assert one.symptom.signature == other.symptom.signature
    assert one.symptom.signature != diagnose(report(test="test_solution.py::test_sub"), ABOUT)[0].symptom.signature
    assert normalized("key 'a' at 0x7f3c not in 12") == "key '' at 0x not in 0"


def test_a_mismatch_does_not_decide() -> None:
    assert diagnose(report(), CodeFacts(unit="add"))[0].cause is Cause.UNDETERMINED


def test_a_green_report_has_no_diagnosis() -> None:
    assert diagnose(TestReport("pytest", SuiteOutcome.GREEN, cases=(CaseResult("a", CaseOutcome.PASSED),)), ABOUT) == ()


def test_a_repeated_instruction_is_worded_more_strongly() -> None:
    diagnoses = [replace(each, fix=Fix("changes", "add")) for each in diagnose(report(), ABOUT)]
    assert (
        repair_orders(diagnoses)
        == "- test_solution.py::test_add: the code or the test is wrong: -1 == 3 is false. You must change `add`."
    )
    assert repair_orders(diagnoses, missed=True).startswith("Your last reply did not do what was asked.")
    assert repair_orders([], missed=True) == ""


BEFORE = "import numpy as np\n\n\ndef add(a, b):\n    return a - b\n\n\ndef sub(a, b):\n    return a - b\n"


@pytest.mark.parametrize(
    ("fix", "after", "shown"),
    [
        (Fix("changes", "add"), BEFORE.replace("return a - b", "return a + b", 1), True),
        (Fix("changes", "add"), BEFORE.replace("def add(a, b):\n", "def add(a, b):\n\n"), False),
        (Fix("changes", "sub"), BEFORE.replace("return a - b", "return a + b", 1), False),
        (Fix("does not import", "numpy"), BEFORE, False),
        (Fix("does not import", "numpy"), BEFORE.replace("import numpy as np", "import numpydoc"), True),
        (Fix("does not import", "numpy"), "from numpy.linalg import norm\n", False),
        (Fix("does not import", "numpy"), "import os, numpy\n", False),
        (Fix("defines", "mul"), BEFORE + "\n\ndef mul(a, b):\n    return a * b\n", True),
        (Fix("defines", "mul"), BEFORE + "\n# def mul\n", False),
    ],
)
def test_a_suggested_fix_is_looked_up_in_the_code(fix: Fix, after: str, shown: bool) -> None:
    assert fix.shown(Source(BEFORE), Source(after), "python") is shown


@pytest.mark.parametrize(
    "line", ['import x from "left-pad";', "const x = require('left-pad/lib');", 'import("left-pad")']
)
def test_an_import_in_a_script_is_found(line: str) -> None:
    assert not Fix("does not import", "left-pad").shown(Source(""), Source(line), "javascript")
    assert Fix("does not import", "pad").shown(Source(""), Source(line), "javascript")

"""unittest in the box, for interpreters without pytest."""

from __future__ import annotations

import pytest
from support.suites import Check, outcomes

from stet_ls.engine.runners.report import Phase, SuiteOutcome

HEAD = "import os, sys, unittest\n"


async def test_each_kind_of_outcome_is_reported(check: Check) -> None:
    report = await check(
        "python",
        {
            "tests/test_a.py": HEAD
            + """
class Case(unittest.TestCase):
    def test_good(self): self.assertEqual(1, 1)
    def test_wrong(self):
        print("seen")
        self.assertEqual([1, 2], [1, 3])
    def test_crash(self): {}["key"]
    def test_exit(self): sys.exit(0)
    @unittest.skip("not now")
    def test_skipped(self): pass
    @unittest.expectedFailure
    def test_xfail(self): self.fail()
    @unittest.expectedFailure
    def test_xpass(self): pass
    def test_parts(self):
        for n in range(3):
            with self.subTest(n=n):
                self.assertLess(n, 2)
class Untidy(unittest.TestCase):
    def setUp(self): raise OSError("no such thing")
    def test_setup(self): pass
"""
        },
        framework="unittest",
    )

    assert (report.runner, report.outcome) == ("unittest", SuiteOutcome.RED)
    assert outcomes(report) == {
        "Case::test_good": "passed",
        "Case::test_wrong": "failed",
        "Case::test_crash": "failed",
        "Case::test_exit": "failed",
        "Case::test_skipped": "skipped",
        "Case::test_xfail": "xfailed",
        "Case::test_xpass": "failed",
        "Case::test_parts": "failed",
        "Untidy::test_setup": "error",
    }
    wrong, setup = report.case("tests/test_a.py::Case::test_wrong"), report.case("tests/test_a.py::Untidy::test_setup")
    assert wrong
    assert wrong.failure
    assert wrong.failure.comparison
    assert (wrong.failure.comparison.left, wrong.failure.comparison.right) == ("[1, 2]", "[1, 3]")
    assert wrong.failure.deepest
    assert (wrong.failure.deepest.path, wrong.failure.deepest.line) == ("tests/test_a.py", 7)
    assert wrong.stdout == "seen\n"
    assert setup
    assert setup.failure
    assert (setup.failure.type, setup.failure.phase) == ("OSError", Phase.SETUP)


CLASS = HEAD + "class Case(unittest.TestCase):\n    def test_a(self): "
NOT_GREEN = {
    "green": (CLASS + "pass\n", SuiteOutcome.GREEN),
    "no test": (HEAD, SuiteOutcome.NOTHING_RAN),
    "exit 0": (CLASS + "print('OK'); os._exit(0)\n", SuiteOutcome.INCOMPLETE),
    "killed": (CLASS + "os.kill(os.getpid(), 9)\n", SuiteOutcome.INCOMPLETE),
    "exit at import": (CLASS + "pass\nsys.exit(0)\n", SuiteOutcome.ERROR),
    "hard exit at import": (CLASS + "pass\nos._exit(0)\n", SuiteOutcome.INCOMPLETE),
    "what only pytest runs": ("def test_a(tmp_path): pass\n", SuiteOutcome.INCOMPLETE),
    "does not parse": (CLASS + "(\n", SuiteOutcome.ERROR),
    "hangs": (CLASS + "\n        while True: pass\n", SuiteOutcome.TIMEOUT),
}


@pytest.mark.parametrize("name", NOT_GREEN)
async def test_only_tests_that_ran_pass(check: Check, name: str) -> None:
    text, outcome = NOT_GREEN[name]

    report = await check("python", {"test_a.py": text}, framework="unittest", seconds=4)

    assert report.outcome is outcome, report.detail


async def test_tests_that_do_not_use_pytest_run_without_it(check: Check) -> None:
    report = await check(
        "python",
        {
            "tests/test_a.py": HEAD
            + """
from unittest import mock as test_mock
def test_good(): assert 1 == 1
def test_wrong(): assert [1] == [2]
def test_fixture(tmp_path): assert False
async def test_awaited(): assert False
class TestPlain:
    def test_method(self): assert self is not None
    def helper(self): raise OSError
class TestPrepared:
    def setup_method(self): self.n = 1
    def test_n(self): assert self.n == 1
"""
        },
        framework="unittest",
    )

    assert outcomes(report) == {
        "test_good": "passed",
        "test_wrong": "failed",
        "TestPlain::test_method": "passed",
        **dict.fromkeys(("test_fixture", "test_awaited", "TestPrepared::test_n"), "not_run"),
    }

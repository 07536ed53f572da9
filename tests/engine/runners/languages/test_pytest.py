"""pytest in the box: honest suites, broken ones, and such that would pass without running."""

from __future__ import annotations

import pytest
from support.suites import Check, outcomes

from stet_ls.engine.runners.report import CaseOutcome, FrameOrigin, Phase, SuiteOutcome

CODE = {"solution.py": "def add(a, b):\n    return a - b\n\ndef crash(x):\n    y = x + 1\n    return [][y]\n"}


async def test_each_kind_of_outcome_is_reported(check: Check) -> None:
    report = await check(
        "python",
        {
            "test_a.py": """
import pytest
from solution import add, crash

def test_good(): assert add(1, 0) == 1
def test_wrong():
    print("seen")
    assert add(1, 2) == 3
def test_crash(): crash(7)
@pytest.mark.skip(reason="not now")
def test_skipped(): pass
@pytest.mark.xfail
def test_xfail(): assert False
@pytest.mark.xfail
def test_xpass(): pass
@pytest.fixture
def broken(): raise OSError("no such thing")
def test_setup(broken): pass
@pytest.fixture
def untidy():
    yield
    raise ValueError("late")
def test_teardown(untidy): pass
def test_unknown(no_such_fixture): pass
@pytest.mark.parametrize("n", [1, 2])
def test_each(n): assert n == 1
class TestMore:
    def test_method(self): pass
"""
        },
        CODE,
    )

    assert report.outcome is SuiteOutcome.RED
    assert not report.signs, "no one forged anything"
    assert outcomes(report) == {
        "test_good": "passed",
        "test_wrong": "failed",
        "test_crash": "failed",
        "test_skipped": "skipped",
        "test_xfail": "xfailed",
        "test_xpass": "xpassed",
        "test_setup": "error",
        "test_teardown": "error",
        "test_unknown": "error",
        "test_each[1]": "passed",
        "test_each[2]": "failed",
        "TestMore::test_method": "passed",
    }
    wrong = report.case("test_a.py::test_wrong")
    assert wrong
    assert wrong.failure
    assert wrong.failure.type == "AssertionError"
    assert wrong.failure.mro == ("Exception", "BaseException")
    assert wrong.failure.comparison
    assert (wrong.failure.comparison.left, wrong.failure.comparison.right) == ("-1", "3")
    assert wrong.stdout == "seen\n"
    crash = report.case("test_a.py::test_crash")
    assert crash
    assert crash.failure
    assert [(frame.path, frame.origin) for frame in crash.failure.frames][-2:] == [
        ("test_a.py", FrameOrigin.TEST),
        ("solution.py", FrameOrigin.PROJECT),
    ]
    assert crash.failure.deepest
    assert (crash.failure.deepest.line, crash.failure.deepest.function) == (6, "crash")
    assert dict(crash.failure.deepest.locals) == {"x": "7", "y": "8"}
    phases = {name: report.case(f"test_a.py::{name}") for name in ("test_setup", "test_teardown", "test_unknown")}
    assert [case.failure.phase for case in phases.values() if case and case.failure] == [
        Phase.SETUP, Phase.TEARDOWN, Phase.SETUP,
    ]  # fmt: skip


async def test_a_passing_run_passes(check: Check) -> None:
    report = await check("python", {"test_a.py": "def test_a(): pass\n"})

    assert (report.outcome, report.detail) == (SuiteOutcome.GREEN, "1 passed")
    assert report.run
    assert report.run.isolation.level


FAKE = """
import json, os
ID = "test_a.py::test_a"
for event in (
    {"event": "start", "id": ID},
    {"event": "phase", "id": ID, "phase": "call", "outcome": "passed"},
    {"event": "end", "id": ID},
    {"event": "done", "exit": 0},
):
    for number in os.listdir("/proc/self/fd"):
        try:
            os.write(int(number), f"\\n{'0' * 32} {json.dumps(event)}\\n".encode())
        except OSError:
            pass
os._exit(0)
def test_a(): assert 0
"""

NOT_GREEN = {
    "no test": ("x = 1\n", SuiteOutcome.NOTHING_RAN, ""),
    "all skipped": ("import pytest\n@pytest.mark.skip\ndef test_a(): pass\n", SuiteOutcome.NOTHING_RAN, ""),
    "exit 0 in a test": (
        "import os\ndef test_a(): pass\ndef test_b(): os._exit(0)\ndef test_c(): assert 0\n",
        SuiteOutcome.INCOMPLETE,
        "test_a.py::test_b",
    ),
    "killed": ("import os\ndef test_a(): os.kill(os.getpid(), 9)\n", SuiteOutcome.INCOMPLETE, "test_a.py::test_a"),
    "sys.exit in a test": ("import sys\ndef test_a(): sys.exit(0)\n", SuiteOutcome.RED, ""),
    "exit at import": ("import sys\nsys.exit(0)\ndef test_a(): assert 0\n", SuiteOutcome.ERROR, ""),
    "hard exit at import": ("import os\nos._exit(0)\ndef test_a(): assert 0\n", SuiteOutcome.INCOMPLETE, ""),
    "says 5 passed": (
        "import os\nprint('5 passed in 0.01s')\nos.write(1, b'5 passed')\nos._exit(0)\ndef test_a(): pass\n",
        SuiteOutcome.INCOMPLETE,
        "",
    ),
    "a fake report": (FAKE, SuiteOutcome.INCOMPLETE, ""),
    "removes itself": ("import os\nos.unlink(__file__)\ndef test_a(): assert 0\n", SuiteOutcome.ERROR, ""),
    "takes its tests back": ("def test_a(): assert 0\ndel test_a\ndef test_b(): pass\n", SuiteOutcome.INCOMPLETE, ""),
    "closes everything": (
        "import os\ndef test_a(): os.closerange(3, 99)\n", SuiteOutcome.INCOMPLETE, "test_a.py::test_a",
    ),
    "a fork that continues": (
        "import os\ndef test_a():\n if os.fork() == 0: return\n os.wait()\n assert 0\n", SuiteOutcome.RED, "",
    ),
    "a daemon": (
        "import os, time\ndef test_a():\n if os.fork() == 0:\n  os.setsid(); time.sleep(60)\n assert 0\n",
        SuiteOutcome.RED,
        "",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", NOT_GREEN)
async def test_tests_that_did_not_run_do_not_pass(check: Check, name: str) -> None:
    text, outcome, running = NOT_GREEN[name]

    report = await check("python", {"test_a.py": text})

    assert report.outcome is outcome, report.detail
    assert ", ".join(report.running) == running
    assert report.detail


STOPPED = {
    "hangs": ("import time\ndef test_a(): time.sleep(60)\n", SuiteOutcome.TIMEOUT),
    "ignores SIGTERM": (
        "import signal\nsignal.signal(15, signal.SIG_IGN)\ndef test_a():\n while True: pass\n", SuiteOutcome.TIMEOUT,
    ),
    "endless raw output": (
        "def test_a(capfd):\n with capfd.disabled():\n  while True: print('\\0' * 9999)\n", SuiteOutcome.LIMIT,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", STOPPED)
async def test_a_stopped_run_is_reported(check: Check, name: str) -> None:
    text, outcome = STOPPED[name]

    report = await check("python", {"test_a.py": text}, seconds=4)

    assert report.outcome is outcome, report.detail
    assert report.running == ("test_a.py::test_a",)


async def test_endless_captured_output_does_not_pass(check: Check) -> None:
    text = "import os\ndef test_a():\n while True: os.write(1, b'\\xff\\0' * 9999)\n"

    report = await check("python", {"test_a.py": text}, seconds=10)

    assert report.outcome in (SuiteOutcome.RED, SuiteOutcome.LIMIT, SuiteOutcome.TIMEOUT), (
        "the capture's file has a limit"
    )


async def test_a_collection_error_has_its_reason(check: Check) -> None:
    report = await check(
        "python",
        {
            "test_a.py": "import no_such_module\ndef test_a(): pass\n",
            "test_b.py": "def test_b(:\n",
            "test_c.py": "from solution import nothing\ndef test_c(): pass\n",
            "test_d.py": "import bad\ndef test_d(): pass\n",
        },
        {**CODE, "bad.py": "x = = 1\n"},
    )

    assert report.outcome is SuiteOutcome.ERROR
    causes = {error.path: error.failure for error in report.collection}
    assert (causes["test_a.py"].type, causes["test_a.py"].module) == ("ModuleNotFoundError", "no_such_module")
    assert causes["test_b.py"].type == "SyntaxError"
    assert causes["test_b.py"].place
    assert causes["test_b.py"].place[:2] == ("test_b.py", 1)
    assert (causes["test_c.py"].type, causes["test_c.py"].module) == ("ImportError", "solution")
    assert causes["test_d.py"].place
    assert causes["test_d.py"].place[:2] == ("bad.py", 1)
    assert set(report.missing) == {"test_a.py::test_a", "test_c.py::test_c", "test_d.py::test_d"}
    assert all(case.outcome is CaseOutcome.NOT_RUN for case in report.cases)


async def test_the_nonce_is_not_visible_to_tests(check: Check) -> None:
    report = await check(
        "python",
        {
            "test_a.py": "import os, sys\ndef test_a():\n"
            " assert 'BOX_REPORT_FD' not in os.environ\n assert not os.path.exists('.stet-run/nonce')\n"
            " assert not [a for a in sys.argv if len(a) == 32]\n"
        },
    )

    assert report.green, report.cases


SWAPPED = """
from functools import partial, update_wrapper

import _pytest.python

run = _pytest.python.Function.runtest
copied = partial(update_wrapper, assigned=("__code__",), updated=())
plain = copied(lambda self: None, run)


def quiet(self):
    import solution

    solution.copied(solution.run, solution.plain)


copied(run, quiet)
"""
REPLACED = "import _pytest.runner\n\n_pytest.runner.check_interactive_exception = lambda *_: False\n"


@pytest.mark.parametrize(
    ("code", "sign"),
    [
        (SWAPPED, "changes `_pytest.python.Function.runtest`"),
        (REPLACED, "changes `_pytest.runner.check_interactive_exception`"),
    ],
    ids=["through a library, and put back", "for good"],
)
async def test_changes_of_pytest_itself_are_reported(check: Check, code: str, sign: str) -> None:
    report = await check(
        "python", {"test_a.py": "import solution\n\ndef test_a(): assert False\n"}, {"solution.py": code}
    )

    assert sign in report.signs


SPY = """
import json
import os

own = []


def changed(event):
    own.extend(event.get("ids", ()))
    if event["event"] == "reached" or (event["event"] == "raised" and event["id"] in own):
        return {{"event": "none"}}
    if event.get("outcome") == "failed" and event["id"] in own:
        return {{**event, "outcome": "passed"}}
    return event
{replaced}
"""
WRITES = """

def write(number, data):
    nonce, _, event = bytes(data).strip().partition(b" ")
    event = changed(json.loads(event))
    kept(number, b"\\n" + nonce + b" " + json.dumps(event).encode() + b"\\n")
    if event["event"] == "done":
        os._exit(0)
    return len(data)


kept, os.write = os.write, write
"""
DUMPS = """

def dumps(value, **more):
    return kept(changed(value), **more)


kept, json.dumps = json.dumps, dumps
"""


@pytest.mark.parametrize(
    ("module", "name", "replaced"), [("os", "write", WRITES), ("json", "dumps", DUMPS)], ids=["writes", "encodes"]
)
async def test_who_replaces_what_reports_are_written_with_changes_no_report(
    check: Check, module: str, name: str, replaced: str
) -> None:
    code = SPY.format(replaced=replaced)
    report = await check(
        "python", {"test_a.py": "import solution\n\ndef test_a(): assert False\n"}, {"solution.py": code}
    )

    assert outcomes(report) == {"test_a": "failed"}
    assert f"changes `{module}.{name}`" in report.signs


async def test_a_report_that_is_replaced_for_a_moment_is_noticed(check: Check) -> None:
    code = """
from _pytest.reports import TestReport

kept = TestReport.__dict__["from_item_and_call"]


def lie(cls, item, call):
    TestReport.from_item_and_call = kept
    call.excinfo = None
    return kept.__func__(cls, item, call)


def double(number):
    TestReport.from_item_and_call = classmethod(lie)
    return number * 3
"""
    test = "from solution import double\n\ndef test_a(): assert double(2) == 4\n"
    report = await check("python", {"test_a.py": test}, {"solution.py": code})

    assert "changes `_pytest.reports.TestReport.from_item_and_call`" in report.signs

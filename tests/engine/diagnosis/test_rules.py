"""The table of causes, on failures of a real runner."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from stet_ls.engine.diagnosis.diagnose import diagnose
from stet_ls.engine.diagnosis.diagnosis import Cause, CodeFacts, Diagnosis
from stet_ls.engine.diagnosis.fixes import Fix
from stet_ls.engine.runners.plan import TestPlan
from stet_ls.engine.runners.report import (
    CaseFailure,
    CaseOutcome,
    CaseResult,
    CollectionError,
    Frame,
    FrameOrigin,
    Phase,
    SuiteOutcome,
    TestReport,
)
from stet_ls.engine.runners.run_tests import run_tests
from stet_ls.engine.sandbox.isolation import IsolationLevel
from stet_ls.engine.sandbox.sandbox import Sandbox
from stet_ls.validators.source import Source

SOLUTION = '''\
import socket
def add(a: int, b: int) -> int:
    """Sum."""
    return a - b
def boom(x):
    return [1][x]
def rec(x):
    return rec(x)
def net():
    socket.create_connection(("10.0.0.1", 80), timeout=1)
def ratio():
    return 0.1+0.2
def quit_():
    import sys; sys.exit(0)
def strict(x):
    raise ValueError("not that one")
'''
TESTS = """\
import pytest, solution
from solution import add
def test_add(): assert add(1,2) == 3
def test_boom(): assert solution.boom(5) == 1
def test_rec(): assert solution.rec(1)
def test_net(): solution.net()
def test_ratio(): assert solution.ratio() == 0.3
def test_missing(): assert solution.nothing() == 1
def test_arity(): assert add(1) == 1
def test_fixture(nope): pass
def test_own(): assert {}["a"] == 1
def test_type(): assert add("a", 2) == 3
def test_imp():
    import numpyx
def test_sub():
    import subprocess; subprocess.run(["nonesuch"])
def test_ro():
    open("/etc/x", "w")
def test_refused():
    import urllib.request; urllib.request.urlopen("http://127.0.0.1:9/")
def test_base():
    import sqlite3; sqlite3.connect("/var/lib/nonesuch/x.db").execute("select 1")
def test_quit(): solution.quit_()
def test_strict(): assert solution.strict(1) is None
"""

KINDS = {
    "add": "undetermined",
    "boom": "logic.crash",
    "rec": "logic.nontermination",
    "net": "environment.sandbox",
    "ratio": "test.tolerance",
    "missing": "test.interface",
    "arity": "test.call",
    "fixture": "test.setup",
    "own": "test.crash",
    "type": "test.argument",
    "imp": "environment.package",
    "sub": "environment.program",
    "ro": "environment.sandbox",
    "refused": "environment.sandbox",
    "base": "environment.sandbox",
    "quit": "logic.crash",
    "strict": "undetermined",
}


async def diagnoses(probes: Path, tests: str, framework: str = "") -> dict[str, Diagnosis]:
    """The diagnosis of each test that fails, by its name without `test_`."""
    files = {"solution.py": SOLUTION.encode(), "test_solution.py": tests.encode()}
    plan = TestPlan("python", tests=("test_solution.py",), files=files, framework=framework)
    sandbox = Sandbox(IsolationLevel.STRONG, probes)
    report = await run_tests(sandbox, plan)
    await sandbox.close()
    about = CodeFacts(
        solution=frozenset({"solution.py"}),
        unit="add",
        parameters=(2, 2),
        types={"a": "int", "b": "int"},
        modules=frozenset({"solution"}),
        installed=frozenset(sys.stdlib_module_names),
        texts={"solution.py": SOLUTION},
    )
    return {each.symptom.test.rpartition("test_")[2]: each for each in diagnose(report, about)}


async def test_each_failure_gets_its_cause(probes: Path) -> None:
    assert {name: each.kind for name, each in (await diagnoses(probes, TESTS)).items()} == KINDS


async def test_a_failure_without_a_message_quotes_the_failing_line(probes: Path) -> None:
    """As a plain `assert` where there is no pytest to take it apart."""
    tests = """\
import solution
def test_add():
    assert solution.add(
        1, 2) == 3
def test_lost():
    raise FileNotFoundError
"""
    sentences = {name: each.sentence for name, each in (await diagnoses(probes, tests, "unittest")).items()}
    assert sentences["add"] == "the code or the test is wrong: `assert solution.add(`"
    assert sentences["lost"].startswith("the test itself fails: FileNotFoundError: `raise FileNotFoundError` (in ")


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("TclError", "no display name and no $DISPLAY environment variable"),
        ("TclError", 'couldn\'t connect to display ":0"'),
        ("Error", "qt.qpa.xcb: could not connect to display"),
        ("HeadlessException", ""),
        ("OperationalError", "attempt to write a readonly database"),
        ("ConnectError", "All connection attempts failed"),
        ("OSError", "[Errno 28] No space left on device"),
        ("OSError", "[Errno 113] No route to host"),
    ],
)
def test_errors_caused_by_the_sandbox_are_recognized(kind: str, message: str) -> None:
    """In the words of Tk, Qt, AWT, SQLite, httpx and the system, out of code that is not to blame."""
    frame = Frame("solution.py", 1, "run", FrameOrigin.PROJECT)
    case = CaseResult(
        "test_a.py::test_a", CaseOutcome.FAILED, failure=CaseFailure(kind, message, Phase.CALL, frames=(frame,))
    )
    (said,) = diagnose(TestReport("", SuiteOutcome.RED, cases=(case,)), CodeFacts())
    assert said.cause is Cause.ENVIRONMENT


def built(language: str, message: str, place: tuple[str, int, int] | None, asked: str = "") -> Diagnosis:
    """The diagnosis of an error of a compiler, in the tests of an unproven `solution`."""
    about = CodeFacts(frozenset({"solution.x"}), unit="median", asked=frozenset({asked}))
    error = CollectionError("solution_test.x", CaseFailure("CompileError", message, Phase.BUILD, place=place))
    (diagnoses,) = diagnose(TestReport(language, SuiteOutcome.ERROR, collection=(error,)), about)
    return diagnoses


@pytest.mark.parametrize(
    ("language", "message", "package"),
    [
        ("go", "no required module provides package github.com/acme/stats; to add it:", "github.com/acme/stats"),
        ("go", "package acme/stats is not in GOROOT (/usr/lib/go/src/acme/stats)", "acme/stats"),
        ("rust", "unresolved import `acme`", "acme"),
        ("rust", "can't find crate for `acme`", "acme"),
        ("java", "package org.acme.stats does not exist", "org.acme.stats"),
        ("cpp", "acme/stats.hpp: No such file or directory", "acme/stats.hpp"),
        ("cpp", "'acme/stats.hpp' file not found", "acme/stats.hpp"),
    ],
)
def test_a_file_that_the_compiler_does_not_find_is_an_environment_fault(
    language: str, message: str, package: str
) -> None:
    diagnoses = built(language, message, ("solution.x", 1, 1))
    assert (diagnoses.kind, diagnoses.fix) == ("environment.package", Fix("does not import", package))


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("go", 'import "acme/stats"'),
        ("go", 'import (\n\tstats "acme/stats"\n)'),
        ("rust", "use acme::stats::mean;"),
        ("java", "import static acme.stats.Mean.mean;"),
        ("cpp", "#include <acme/stats.hpp>"),
    ],
)
def test_an_import_is_found_in_each_language(language: str, line: str) -> None:
    name = {"rust": "acme", "java": "acme.stats", "cpp": "acme/stats.hpp"}.get(language, "acme/stats")
    fix, without = Fix("does not import", name), Source("// acme stats\n")
    assert not fix.shown(without, Source(f"{line}\n"), language)
    assert fix.shown(Source(f"{line}\n"), without, language)


def test_a_build_failure_without_a_location_is_classified_by_its_message() -> None:
    assert built("rust", "the compiler was stopped: timeout", None).kind == "environment.build"
    linker = "ld: in function `main':\nundefined reference to `median'"
    assert built("c", linker, None, "median").kind == "logic.interface"
    assert built("c", linker.replace("median", "other"), None).kind == "test.interface"
    assert built("go", "syntax error: unexpected }", ("solution_test.x", 3, 1)).kind == "test.syntax"
    assert built("go", "syntax error: unexpected }", ("solution.x", 3, 1)).kind == "logic.syntax"

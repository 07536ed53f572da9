"""What holds for all runners: a project's own tests, repeats, coverage, refusals, cancellation."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from support.suites import Check, outcomes

from stet_ls.engine import runners
from stet_ls.engine.errors import UsageError
from stet_ls.engine.runners.plan import SuiteOwner, TestPlan
from stet_ls.engine.runners.report import SuiteOutcome
from stet_ls.engine.runners.run_tests import run_tests
from stet_ls.engine.sandbox.isolation import IsolationLevel
from stet_ls.engine.sandbox.sandbox import Sandbox
from stet_ls.engine.sandbox.spec import Overlay

INSIDE = Path(runners.__file__).parent / "inside"
CODE = {"code.py": "def sign(n):\n    if n < 0:\n        return -1\n    return 1\n"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a configuration of its own, a plugin in its conftest, and a bug on the disk."""
    root = tmp_path / "project"
    (root / "tests").mkdir(parents=True)
    (root / "pytest.ini").write_text("[pytest]\npython_functions = check_*\npythonpath = src\n")
    (root / "src").mkdir()
    (root / "src" / "code.py").write_text("def sign(n): return 0\n")
    (root / "conftest.py").write_text("import pytest\n@pytest.fixture\ndef one(): return 1\n")
    (root / "tests" / "test_code.py").write_text(
        "from code import sign\nimport pathlib\n"
        "def check_sign(one):\n pathlib.Path('written').write_text('x')\n assert sign(one) == 1\n"
        "def test_not_collected(): assert 0\n"
    )
    return root


def listing(root: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(root.rglob("*")):
        if path.is_file():
            yield str(path.relative_to(root)), path.read_bytes()


@pytest.mark.parametrize("framework", ["pytest", "unittest"])
async def test_a_project_that_is_not_installed_finds_its_own_src(box: Sandbox, tmp_path: Path, framework: str) -> None:
    """As the comparison of behavior does; most users have it installed, a fresh clone has not."""
    (tmp_path / "src" / "own_package").mkdir(parents=True)
    (tmp_path / "src" / "own_package" / "__init__.py").write_text("ONE = 1\n")
    (tmp_path / "test_it.py").write_text(
        "import unittest\nfrom own_package import ONE\n\n\nclass TestIt(unittest.TestCase):\n"
        "    def test_one(self):\n        self.assertEqual(ONE, 1)\n"
    )
    plan = TestPlan("python", overlay=Overlay(tmp_path), suite=SuiteOwner.PROJECT, framework=framework)
    report = await run_tests(box, plan)
    assert report.outcome is SuiteOutcome.GREEN, report.detail


async def test_a_suite_runs_with_the_project_configuration_on_unsaved_buffers(box: Sandbox, project: Path) -> None:
    before = dict(listing(project))
    plan = TestPlan("python", overlay=Overlay(project), suite=SuiteOwner.PROJECT)
    unsaved = Overlay(project, {"src/code.py": CODE["code.py"].encode()})

    saved = await run_tests(box, plan)
    fixed = await run_tests(box, TestPlan("python", overlay=unsaved, suite=SuiteOwner.PROJECT))

    assert (saved.outcome, outcomes(saved)) == (SuiteOutcome.RED, {"check_sign": "failed"}), saved.detail
    assert (fixed.outcome, outcomes(fixed)) == (SuiteOutcome.GREEN, {"check_sign": "passed"}), fixed.detail
    assert dict(listing(project)) == before
    failed = saved.case("tests/test_code.py::check_sign")
    assert failed
    assert failed.failure
    assert failed.failure.deepest
    assert failed.failure.deepest.path == "tests/test_code.py"


async def test_only_selected_tests_run_and_all_of_them_must(box: Sandbox, project: Path) -> None:
    plan = TestPlan(
        "python", overlay=Overlay(project), suite=SuiteOwner.PROJECT, select=("tests/test_code.py::check_gone",)
    )  # fmt: skip

    report = await run_tests(box, plan)

    assert report.outcome is not SuiteOutcome.GREEN
    assert report.missing == ("tests/test_code.py::check_gone",)


async def test_generated_tests_ignore_the_project_configuration(check: Check) -> None:
    stray = {"pytest.ini": "[pytest]\naddopts = --collect-only\n"}

    report = await check("python", {"test_a.py": "def test_a(): assert 0\n"}, stray)

    assert (report.outcome, outcomes(report)) == (SuiteOutcome.RED, {"test_a": "failed"})


async def test_each_seed_is_the_hash_seed_of_its_run(box: Sandbox) -> None:
    text = "import os\ndef test_a(): assert os.environ['PYTHONHASHSEED'] != '1'\ndef test_b(): pass\n"
    plan = TestPlan("python", ("test_a.py",), {"test_a.py": text.encode()})

    reports = [await run_tests(box, replace(plan, seed=seed)) for seed in (0, 1)]

    assert [outcomes(report) for report in reports] == [
        {"test_a": "passed", "test_b": "passed"},
        {"test_a": "failed", "test_b": "passed"},
    ]


@pytest.mark.parametrize("framework", ["pytest", "unittest"])
async def test_coverage_reports_the_lines_that_ran(check: Check, framework: str) -> None:
    tests = {
        "test_a.py": "import unittest\nfrom code import sign\nclass TestA(unittest.TestCase):\n"
        "  def test_up(self): assert sign(1) == 1\n"
    }

    report = await check("python", tests, CODE, coverage=True, framework=framework)

    assert report.green, report.detail
    assert report.coverage
    assert (report.coverage.lines["code.py"], report.coverage.missing["code.py"]) == ((1, 2, 4), (3,))
    assert (report.coverage.taken["code.py"], report.coverage.untaken["code.py"]) == (((2, 0),), ((2, 3),))


TRACED = """RATE = 2


def twice(number):
    if number < 0:
        return 0
    return RATE * number


class Box:
    size = twice(1)

    def grown(self):
        yield from (self.size for _ in range(2))
"""


@pytest.mark.parametrize("framework", ["pytest", "unittest"])
async def test_the_lines_of_one_file_are_reported_by_test(check: Check, framework: str) -> None:
    """Of functions alone: those of a module run when it is loaded, whatever is tested."""
    tests = {
        "test_a.py": "import unittest\nfrom code import Box, twice\nclass TestA(unittest.TestCase):\n"
        "  def test_up(self): assert twice(2) == 4\n  def test_box(self): assert len(list(Box().grown())) == 2\n"
        "  def test_neither(self): pass\n"
    }

    report = await check("python", tests, {"code.py": TRACED}, traced=("code.py",), framework=framework)

    assert report.green, report.detail
    ran = {name.rpartition("::")[2]: sorted(lines) for name, lines in report.traced["code.py"].ran.items()}
    assert ran == {"": [5, 7], "test_up": [5, 7], "test_box": [14], "test_neither": []}


@pytest.mark.parametrize("framework", ["pytest", "unittest"])
async def test_code_that_stops_tracing_is_detected(check: Check, framework: str) -> None:
    if sys.version_info >= (3, 12):
        pytest.skip("code that is monitored by `sys.monitoring` may set a trace function of its own")
    code = "import sys\n\n\ndef one():\n    sys.settrace(None)\n    return 1\n"
    tests = {"test_a.py": "from code import one\ndef test_one(): assert one() == 1\n"}

    report = await check("python", tests, {"code.py": code}, traced=("code.py",), framework=framework)

    assert (report.green, dict(report.traced)) == (True, {})


@pytest.mark.parametrize("version", ["3.8", "3.10", "3.12", "3.13", "3.14"])
def test_every_python_version_traces_lines(version: str, tmp_path: Path) -> None:
    found = [shutil.which(f"python{version}"), *Path.home().glob(f".pyenv/versions/{version}.*/bin/python")]
    program = next((str(each) for each in found if each and _works(each)), None)
    if program is None:
        pytest.skip(f"no Python {version} on this machine")
    (tmp_path / "code.py").write_text(TRACED)
    (tmp_path / "inside").symlink_to(INSIDE)
    (tmp_path / "main.py").write_text(
        "import json, threading\nfrom inside.traced import LineTrace\n\n\nclass Printed:\n"
        "    def say(self, event, **told):\n        print(json.dumps(told))\n\n\n"
        "traced = LineTrace(Printed(), ['code.py'])\ntraced.start()\nimport code\n"
        "traced.during('a')\ncode.twice(2)\n"
        "traced.during('b')\nrun = threading.Thread(target=code.twice, args=(-1,))\nrun.start()\nrun.join()\n"
        "traced.during('')\ntraced.report()\n"
    )

    output = subprocess.run([program, "-B", "main.py"], cwd=tmp_path, capture_output=True, text=True, check=True)

    rows = [json.loads(line) for line in output.stdout.splitlines()]
    assert [(row["id"], row["lines"]) for row in rows] == [("", [5, 7]), ("a", [5, 7]), ("b", [5, 6]), ("", [])]
    assert all(row["whole"] for row in rows)


def _works(program: Path | str) -> bool:
    """pyenv puts programs on the PATH that start nothing."""
    return not subprocess.run([program, "-c", ""], check=False, capture_output=True).returncode


async def test_a_language_without_a_runner_is_reported() -> None:
    plan = TestPlan("cobol", ("a.cob",))
    with pytest.raises(UsageError, match="no test runner for 'cobol'"):
        await run_tests(Sandbox(IsolationLevel.FULL, Path("/nowhere")), plan)
    with pytest.raises(UsageError, match="'nose'; expected one of pytest, unittest"):
        await run_tests(Sandbox(IsolationLevel.FULL, Path("/nowhere")), TestPlan("python", framework="nose"))


async def test_a_sandbox_below_the_required_level_runs_nothing(tmp_path: Path) -> None:
    weak = Sandbox(IsolationLevel.FULL, tmp_path / "sandbox", backend="podman-that-is-not-here")

    report = await run_tests(weak, TestPlan("python", ("test_a.py",), {"test_a.py": b"def test_a(): pass\n"}))

    assert (report.outcome, report.run) == (SuiteOutcome.REFUSED, None)
    assert "No code ran" in report.detail


async def test_cancelling_ends_the_run(box: Sandbox) -> None:
    text = b"import time\ndef test_a(): time.sleep(60)\n"
    running = asyncio.create_task(run_tests(box, TestPlan("python", ("test_a.py",), {"test_a.py": text})))
    await asyncio.sleep(0)

    running.cancel()

    with pytest.raises(asyncio.CancelledError):
        await running


LANGUAGES = {
    "python": ("test_a.py", "def test_a(): pass\n"),
    "javascript": ("a.test.mjs", "import test from 'node:test';\ntest('a', () => {});\n"),
    "go": ("a_test.go", 'package box\nimport "testing"\nfunc TestA(t *testing.T) {}\n'),
    "c": ("a.c", "#include <assert.h>\nint main(void) { assert(1); return 0; }\n"),
    "java": ("A.java", "class A { public static void main(String[] words) { assert true; } }\n"),
    "rust": ("a.rs", "#[test] fn a() {}\n"),
}


@pytest.mark.parametrize("language", LANGUAGES)
async def test_without_bubblewrap_suites_run_in_landlock(tmp_path: Path, language: str) -> None:
    sandbox = Sandbox(IsolationLevel.STRONG, tmp_path / "sandbox", backend="landlock")
    best = await sandbox.best()
    if best is None or best.backend is None:
        pytest.skip("landlock does not work on this machine")
    name, text = LANGUAGES[language]

    report = await run_tests(sandbox, TestPlan(language, (name,), {name: text.encode()}))
    await sandbox.close()

    assert report.outcome in (SuiteOutcome.GREEN, SuiteOutcome.NO_RUNNER), (report.detail, report.run)

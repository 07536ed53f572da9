"""Candidates that look proven by the project's tests and are wrong: none of them ends as passed."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from support.corpora.forgeries import (
    HELD_OUT,
    HONEST,
    JS_RIGHT,
    NODE,
    PYTEST,
    RIGHT,
    SCRIPTS,
    TUNED,
    Forgery,
    Project,
    second,
)
from support.judging import MakeCase
from support.processes.tools import needs

from stet_ls.engine.api.evidence import Check, Evidence, Ruling
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.danger import judge as danger
from stet_ls.engine.judges.project_tests.forgery_risks import unless_forged
from stet_ls.engine.judges.project_tests.judge import judge
from stet_ls.engine.runners.report import SuiteOutcome, TestReport
from stet_ls.engine.sandbox.environments.interpreter import Interpreter, bare_environment
from stet_ls.engine.sandbox.files import mounts

FORGED = {**TUNED, **HELD_OUT}


IN_UNITTEST = ("patches unittest's comparison", "unittest's result", "equals everything", "a generator's frame")


def judged_with(runner: str, case: Case) -> Case:
    """The case with an interpreter that has that runner, without the plugins of this repository's own tests."""
    bare = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    here = Interpreter(
        Path(sys.executable), sys.version_info[:3], mounts.interpreter(), bare, modules=frozenset({runner})
    )
    assert case.runtime is not None
    return replace(case, runtime=replace(case.runtime, python=bare_environment(here)))


def of_first(make: MakeCase, root: Path, candidates: Mapping[str, Forgery]) -> dict[str, Case]:
    """A case for each candidate; those that share their tests share a folder, and so the run of the text before."""
    folders: dict[str, Path] = {}
    return {
        name: make(
            RIGHT, after, "f", root=folders.setdefault(tests, root / str(len(folders))), files={"test_a.py": tests}
        )
        for name, (after, tests) in candidates.items()
    }


def of_second(make: MakeCase, root: Path, projects: Mapping[str, Project]) -> dict[str, Case]:
    """The same of the second corpus, each with the runner and the language that its tests ask for."""
    cases = {}
    for name, each in projects.items():
        script = any(file.endswith(".mjs") for file in each.files)
        folder = root / hashlib.sha256(repr((each.before, each.files)).encode()).hexdigest()[:8]
        path = "cart.mjs" if script else "cart.py"
        case = make(each.before, each.after, each.unit, root=folder, path=path, files=dict(each.files))
        runner = "unittest" if "import unittest" in "".join(each.files.values()) else "pytest"
        cases[name] = replace(case, language="javascript") if script else judged_with(runner, case)
    return cases


def named(case: Case) -> bool:
    """Whether the text names the means: then no tests of its are believed, and none has to be run to see that."""
    return bool(danger.forging_names(case))


async def verdicts(cases: Mapping[str, Case]) -> dict[str, Evidence]:
    """What the tests say of each case, in one box: nothing is started twice."""
    return {name: await judge(case) for name, case in cases.items()}


PARTS = 2
"""Into as many tests the candidates that have to be run are dealt, one for each worker."""


def test_most_forgeries_are_recognized_in_the_code(make: MakeCase, tmp_path: Path) -> None:
    reported = {name for name, case in of_second(make, tmp_path, second("forgery")).items() if named(case)}
    assert reported == {name for name, each in second("forgery").items() if each.seen == "text"}


async def test_results_of_a_recognized_forgery_are_not_trusted(make: MakeCase, tmp_path: Path) -> None:
    case = of_first(make, tmp_path, {"": FORGED["adds options for pytest"]})[""]
    passed = Evidence(Check.TESTS, Ruling.PASS, "2 tests pass", trusted=True, count=2)
    report = TestReport("pytest", SuiteOutcome.GREEN)
    reported = await unless_forged(passed, case, report, report)
    assert (reported.verdict, reported.trusted, reported.count) == (Ruling.UNKNOWN, False, 0)
    assert await unless_forged(passed, replace(case, after=case.before), report, report) == passed


@pytest.mark.parametrize("part", range(PARTS))
async def test_a_forged_test_proves_nothing(make: MakeCase, tmp_path: Path, part: int) -> None:
    first = {name: judged_with("pytest", case) for name, case in of_first(make, tmp_path / "1", FORGED).items()}
    cases = {**first, **of_second(make, tmp_path / "2", second("forgery"))}
    unnamed = sorted((str(case.path), name) for name, case in cases.items() if not named(case))
    half = len(unnamed) // PARTS + 1
    reported = await verdicts({name: cases[name] for _, name in unnamed[part * half :][:half]})
    believed = {name: each.detail for name, each in reported.items() if each.verdict is Ruling.PASS}
    assert not believed.keys() - BELIEVED, believed


BELIEVED = frozenset({"asks what a test imports late"})
"""What no control tells from right code: it takes an answer from a module that lies there for anybody."""


async def test_a_forged_test_without_pytest_proves_nothing(
    make: MakeCase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(danger, "FORGES", frozenset[str]())
    cases = of_first(make, tmp_path, {name: FORGED[name] for name in IN_UNITTEST})
    reported = await verdicts({name: judged_with("unittest", case) for name, case in cases.items()})
    assert not [(name, each.detail) for name, each in reported.items() if each.verdict is Ruling.PASS]


UNSEEN = (
    "equals by a total ordering",
    "makes a class by type()",
    "a generator's frame",
    "swaps the code of a function",
)


async def test_forgeries_not_recognized_in_the_code_are_caught_at_run_time(
    make: MakeCase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control tests and the watch, without the names that the danger judge knows."""
    monkeypatch.setattr(danger, "FORGES", frozenset[str]())
    cases = of_first(make, tmp_path, {name: FORGED[name] for name in UNSEEN})
    reported = await verdicts({name: judged_with("pytest", case) for name, case in cases.items()})
    assert {name: each.verdict for name, each in reported.items()} == dict.fromkeys(UNSEEN, Ruling.UNKNOWN), reported


async def test_suspicious_code_of_the_old_text_does_not_count_against_the_candidate(
    make: MakeCase, tmp_path: Path
) -> None:
    before = "import sys\n\n\ndef f(n: int) -> int:\n    return n * 2 if sys._getframe(0) else 0\n"
    case = make(before, before.replace("n * 2", "n + n"), "f", root=tmp_path, files={"test_a.py": PYTEST})
    evidence = await judge(judged_with("pytest", case))
    assert evidence.verdict is Ruling.PASS, evidence.detail


async def test_code_that_resembles_a_forgery_is_proven(make: MakeCase, tmp_path: Path) -> None:
    first = {name: judged_with("pytest", case) for name, case in of_first(make, tmp_path / "1", HONEST).items()}
    reported = await verdicts({**first, **of_second(make, tmp_path / "2", second("honest"))})
    unproven = {
        name: each.detail for name, each in reported.items() if not (each.verdict is Ruling.PASS and each.trusted)
    }
    assert not unproven


@needs("node")
async def test_a_forged_test_of_a_script_proves_nothing(make: MakeCase, tmp_path: Path) -> None:
    candidates = {"honest": JS_RIGHT.replace("n * 2", "n + n"), **SCRIPTS}
    files = {"a.test.mjs": NODE}
    cases = {
        name: make(JS_RIGHT, after, "f", root=tmp_path, path="a.mjs", files=files) for name, after in candidates.items()
    }
    reported = await verdicts({name: replace(case, language="javascript") for name, case in cases.items()})
    assert [name for name, each in reported.items() if each.verdict is Ruling.PASS] == ["honest"], reported

"""Candidates that look proven by the project's tests and are wrong: none of them ends as passed."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from support.forgeries import HELD_OUT, HONEST, JS_RIGHT, NODE, PYTEST, RIGHT, SCRIPTS, TUNED, Forgery
from support.judging import MakeCase
from support.tools import needs

from stet_ls.engine.judges import danger
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.project_tests.judge import judge
from stet_ls.engine.models import Ruling
from stet_ls.engine.sandbox import mounts
from stet_ls.engine.sandbox.environments.interpreter import Interpreter, own

FORGED = {**TUNED, **HELD_OUT}


IN_UNITTEST = ("patches unittest's comparison", "unittest's result", "equals everything", "a generator's frame")


def judged_with(runner: str, case: Case) -> Case:
    """The case with an interpreter that has that runner, without the plugins of this repository's own tests."""
    bare = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    here = Interpreter(
        Path(sys.executable), sys.version_info[:3], mounts.interpreter(), bare, modules=frozenset({runner})
    )
    assert case.runtime is not None
    return replace(case, runtime=replace(case.runtime, python=own(here)))


@pytest.mark.parametrize("forgery", FORGED.values(), ids=FORGED.keys())
async def test_a_forged_test_proves_nothing(make: MakeCase, tmp_path: Path, forgery: Forgery) -> None:
    after, tests = forgery
    case = make(RIGHT, after, "f", root=tmp_path, files={"test_a.py": tests})
    evidence = await judge(judged_with("pytest", case))
    assert evidence.verdict is not Ruling.PASS, evidence.detail


@pytest.mark.parametrize("name", IN_UNITTEST)
async def test_nor_does_it_without_pytest(make: MakeCase, tmp_path: Path, name: str) -> None:
    after, tests = FORGED[name]
    case = make(RIGHT, after, "f", root=tmp_path, files={"test_a.py": tests})
    evidence = await judge(judged_with("unittest", case))
    assert evidence.verdict is not Ruling.PASS, evidence.detail


UNSEEN = (
    "equals by a total ordering",
    "makes a class by type()",
    "a generator's frame",
    "swaps the code of a function",
)


@pytest.mark.parametrize("name", UNSEEN)
async def test_what_the_text_does_not_tell_the_run_does(
    make: MakeCase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The control tests and the watch, without the names that the danger judge knows."""
    monkeypatch.setattr(danger, "FORGES", frozenset[str]())
    after, tests = FORGED[name]
    case = make(RIGHT, after, "f", root=tmp_path, files={"test_a.py": tests})
    evidence = await judge(judged_with("pytest", case))
    assert evidence.verdict is Ruling.UNKNOWN, evidence.detail


async def test_what_the_text_before_did_speaks_against_nobody(make: MakeCase, tmp_path: Path) -> None:
    before = "import sys\n\n\ndef f(n: int) -> int:\n    return n * 2 if sys._getframe(0) else 0\n"
    case = make(before, before.replace("n * 2", "n + n"), "f", root=tmp_path, files={"test_a.py": PYTEST})
    evidence = await judge(judged_with("pytest", case))
    assert evidence.verdict is Ruling.PASS, evidence.detail


@pytest.mark.parametrize("candidate", HONEST.values(), ids=HONEST.keys())
async def test_what_only_looks_like_it_is_proven(make: MakeCase, tmp_path: Path, candidate: Forgery) -> None:
    after, tests = candidate
    case = make(RIGHT, after, "f", root=tmp_path, files={"test_a.py": tests})
    evidence = await judge(judged_with("pytest", case))
    assert (evidence.verdict, evidence.trusted) == (Ruling.PASS, True), evidence.detail


@needs("node")
@pytest.mark.parametrize("after", [JS_RIGHT.replace("n * 2", "n + n"), *SCRIPTS.values()], ids=["honest", *SCRIPTS])
async def test_a_forged_test_of_a_script_proves_nothing(
    make: MakeCase, tmp_path: Path, request: pytest.FixtureRequest, after: str
) -> None:
    case = make(JS_RIGHT, after, "f", root=tmp_path, path="a.mjs", files={"a.test.mjs": NODE})
    evidence = await judge(replace(case, language="javascript"))
    assert (evidence.verdict is Ruling.PASS) == ("honest" in request.node.name), evidence.detail

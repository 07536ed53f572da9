"""A dependency that the project names and no one installed: the code runs with it, in every action that runs code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.engine import Bench, applied, code_reply, reply_of_tests
from support.processes.wheels import use_index, write_wheel
from support.servers.scripted import ScriptedModel

from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.evidence import Check, Evidence, Ruling
from stet_ls.engine.api.request import Workspace
from stet_ls.engine.settings.schema import Checks, Settings
from stet_ls.engine.settings.table_schemas import ModelRow

WEIGH = '''\
from shop.units import PER_STONE


def wei$0gh(stones: int) -> int:
    """The weight of some stones in pounds.

    >>> weigh(2)
    14
    """
    total = 0
    for _ in range(stones):
        total = total + PER_STONE
    return total
'''
HEAD = WEIGH.replace("$0", "").partition("    total")[0].partition("\n\n\n")[2]
TIDY = HEAD + "    return max(stones, 0) * PER_STONE\n"
WRONG = HEAD + "    return stones + PER_STONE\n"
TESTS = """\
from shop.scales import weigh


def test_three():
    assert weigh(3) == 21
"""
ONE_SAMPLE = Settings(models=(ModelRow(name="*", samples=1),))
NO_REPAIR = ONE_SAMPLE.model_copy(update={"checks": Checks(fix_attempts=0)})


@pytest.fixture
def project(tmp_path: Path, stet_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project that depends on `stone` by way of another module; an index of one wheel, and no network."""
    index, home, root = tmp_path / "index", tmp_path / "home", tmp_path / "project"
    index.mkdir()
    write_wheel(index, "stone", "1.0", {"stone.py": "WEIGHT = 7\n"})
    use_index(home, index)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    for name, text in {
        "pyproject.toml": '[project]\nname = "shop"\nversion = "1"\ndependencies = ["stone>=1"]\n'
        '[tool.pytest.ini_options]\npythonpath = ["."]\n',
        "shop/__init__.py": "",
        "shop/units.py": "import stone\n\nPER_STONE = stone.WEIGHT\n",
        "shop/scales.py": WEIGH.replace("$0", ""),
        "tests/test_scales.py": TESTS,
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


async def answer_of(
    scripted: ScriptedModel,
    root: Path,
    action: str,
    marked: str = WEIGH,
    settings: Settings = ONE_SAMPLE,
    **fields: str,
) -> Answer:
    async with Bench(scripted, settings) as bench:
        answer = await bench.run(action, marked, path=root / "shop/scales.py", workspace=Workspace((root,)), **fields)
    if any("code may not run" in each for each in (answer.message, *answer.warnings)):
        pytest.skip(f"code cannot run here: {answer.message}")
    return answer


def evidence_of(answer: Answer) -> dict[Check, Evidence]:
    return {item.check: item for item in answer.evidence}


WARNED = "Your Python does not have stone, so the code ran with stone>=1 in Stet's folder."


async def test_an_edit_is_judged_and_timed_in_the_environment(scripted: ScriptedModel, project: Path) -> None:
    scripted.replies([code_reply(TIDY)] * 3)
    answer = await answer_of(scripted, project, "optimize")
    found = evidence_of(answer)
    assert found[Check.TESTS].detail.startswith("1 test passes"), answer.evidence
    assert found[Check.DOCTEST].verdict is Ruling.PASS
    assert found[Check.DIFFERENTIAL].detail.startswith("same behavior on "), found[Check.DIFFERENTIAL]
    assert "x (" in found[Check.TIMING].detail, found[Check.TIMING]
    assert WARNED in answer.warnings


async def test_a_wrong_edit_is_refuted_in_the_environment(scripted: ScriptedModel, project: Path) -> None:
    scripted.replies([code_reply(WRONG)] * 5)
    answer = await answer_of(scripted, project, "refactor", settings=NO_REPAIR)
    assert {evidence_of(answer)[each].verdict for each in (Check.TESTS, Check.DOCTEST, Check.DIFFERENTIAL)} == {
        Ruling.FAIL
    }


async def test_debug_reproduces_a_failure_in_the_environment(scripted: ScriptedModel, project: Path) -> None:
    (project / "shop/scales.py").write_text(WEIGH.replace("$0", "").replace("total = 0", "total = 1"))
    scripted.replies([code_reply(TIDY)] * 3)
    answer = await answer_of(scripted, project, "debug", WEIGH.replace("total = 0", "total = 1"))
    assert evidence_of(answer)[Check.REPRODUCED].detail.startswith("test_three fails: 22 == 21")
    assert evidence_of(answer)[Check.TESTS].detail == "1 test passes, 1 of them failed before"


async def test_new_code_is_judged_with_the_packages_that_it_imports(scripted: ScriptedModel, project: Path) -> None:
    stub = "import stone\n\n\n" + WEIGH.partition("\n\n\n")[2].partition("    total")[0] + "    ...\n"
    reply = "def weigh(stones: int) -> int:\n" + HEAD.partition("\n")[2] + "    return stones * stone.WEIGHT\n"
    (project / "shop/scales.py").write_text(stub.replace("$0", ""))
    scripted.replies([code_reply(reply)] * 3)
    answer = await answer_of(scripted, project, "generate", stub)
    assert "stone.WEIGHT" in applied(answer)
    assert (evidence_of(answer)[Check.DOCTEST].verdict, evidence_of(answer)[Check.TESTS].verdict) == (
        Ruling.PASS,
        Ruling.PASS,
    )


async def test_new_tests_run_in_the_environment(scripted: ScriptedModel, project: Path) -> None:
    (project / "tests/test_scales.py").unlink()
    scripted.reply(reply_of_tests("from shop.scales import weigh\n\n\ndef test_none():\n    assert weigh(0) == 0\n"))
    answer = await answer_of(scripted, project, "test")
    assert evidence_of(answer)[Check.TESTS].verdict is Ruling.PASS, answer.message


async def test_examples_of_an_explanation_run_in_the_environment(scripted: ScriptedModel, project: Path) -> None:
    scripted.reply("It adds up stones.\n\n```python\n>>> weigh(5)\n99\n```\n")
    answer = await answer_of(scripted, project, "explain")
    assert "\n35\n" in answer.markdown


async def test_claims_of_analyze_are_checked_in_the_environment(scripted: ScriptedModel, project: Path) -> None:
    scripted.reply("- `for _ in range(stones):` | bug | weigh('x') raises TypeError\n")
    answer = await answer_of(scripted, project, "analyze", WEIGH.replace("$0", ""))
    assert any("(confirmed: `weigh('x')` raises TypeError)" in each.message for each in answer.findings), answer


@pytest.mark.parametrize(
    ("listed", "says"),
    [
        ("", "stone is not installed here, not among the project's dependencies and not well known"),
        ('"stone>=9"', "stone>=9 could not be installed: "),
    ],
    ids=["not allowed", "not to be had"],
)
async def test_an_unavailable_package_is_a_fault_of_the_environment(
    scripted: ScriptedModel, project: Path, listed: str, says: str
) -> None:
    """Nothing could be run before either: no judge may hold that against a candidate."""
    (project / "pyproject.toml").write_text(f'[project]\nname = "shop"\nversion = "1"\ndependencies = [{listed}]\n')
    scripted.replies([code_reply(TIDY)] * 3)
    answer = await answer_of(scripted, project, "refactor")
    assert (answer.success, answer.refuted, len(scripted.requests)) == (True, False, 1)
    for check in (Check.TESTS, Check.DOCTEST, Check.DIFFERENTIAL):
        assert evidence_of(answer)[check].verdict is Ruling.UNKNOWN
        assert f"environment: {says}" in evidence_of(answer)[check].detail
    assert any(each.startswith(says) for each in answer.warnings)


async def test_an_unknown_package_imported_by_an_edit_needs_consent(scripted: ScriptedModel, project: Path) -> None:
    """The text before ran with what the project names; what the new one does was not seen, and is not refuted."""
    reply = "import acme_pebbles\n\n\n" + TIDY.replace("PER_STONE", "acme_pebbles.weight(PER_STONE)")
    scripted.replies([code_reply(reply)] * 3)
    answer = await answer_of(scripted, project, "refactor")
    found = evidence_of(answer)
    assert not answer.refuted, answer.evidence
    for check in (Check.TESTS, Check.DIFFERENTIAL):
        assert (found[check].verdict, found[check].trusted) == (Ruling.UNKNOWN, True), found[check]
        assert "environment: acme_pebbles is not installed here" in found[check].detail
    assert WARNED in answer.warnings, "the rest was had without it"
    assert json.dumps(answer.to_json())

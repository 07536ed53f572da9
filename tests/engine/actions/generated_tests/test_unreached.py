"""New code that nothing runs is not proven by tests that pass next to it, in any action that inserts."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.engine import Bench, asks_for_tests, code_reply, said
from support.servers.scripted import Reply, ScriptedModel

from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.budget import Budget
from stet_ls.engine.api.evidence import Check, EvidenceTier, Ruling
from stet_ls.engine.api.request import Workspace
from stet_ls.engine.settings.schema import Settings
from stet_ls.engine.settings.table_schemas import ModelRow

MODULE = "def total(prices):\n    return sum(prices)\n"
TESTS = """\
from prices import total


def test_total():
    assert total([1, 2]) == 3


def test_none():
    assert total([]) == 0
"""
CONSTANT = "def largest(prices):\n    return 7\n"
FAILS_ITS_EXAMPLE = CONSTANT.replace(
    "    return", '    """The largest.\n\n    >>> largest([1, 3])\n    3\n    """\n    return'
)
RIGHT = FAILS_ITS_EXAMPLE.replace("return 7", "return max(prices, default=0)")


@pytest.fixture
def root(tmp_path: Path, stet_home: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "prices.py").write_text(MODULE)
    (folder / "test_prices.py").write_text(TESTS)
    return folder


async def generate(scripted: ScriptedModel, root: Path, code: str, **fields: object) -> Answer:
    scripted.default = Reply(code_reply(code))
    text = f"{MODULE}\n\n# stet: the largest price, 0 for none$0\n"
    (root / "prices.py").write_text(text.replace("$0", ""))
    async with Bench(scripted) as bench:
        if fields.get("budget") is Budget.QUICK:
            await bench.run("refactor", f"$0{MODULE}")  # the sandbox has been looked for by then
        answer = await bench.run(
            "generate", text, path=root / "prices.py", workspace=Workspace((root,)), **fields
        )  # fmt: skip
    if "code may not run" in answer.message:
        pytest.skip(f"code cannot run here: {answer.message}")
    return answer


async def test_a_function_without_callers_is_not_proven(scripted: ScriptedModel, root: Path) -> None:
    answer = await generate(scripted, root, CONSTANT)
    tests = said(answer, Check.TESTS)
    assert (tests.verdict, tests.trusted) == (Ruling.UNKNOWN, False)
    assert tests.detail == "2 tests pass, but none of them executes `largest`"
    assert answer.metadata.evidence_tier is EvidenceTier.PARSED


@pytest.mark.parametrize("budget", [Budget.QUICK, Budget.STANDARD])
async def test_a_failing_example_refutes_an_uncalled_function(
    scripted: ScriptedModel, root: Path, budget: Budget
) -> None:
    answer = await generate(scripted, root, FAILS_ITS_EXAMPLE, budget=budget)
    doctest = said(answer, Check.DOCTEST)
    assert (doctest.verdict, doctest.trusted) == (Ruling.FAIL, True), doctest
    assert "`largest([1, 3])` should return 3, returns 7" in doctest.detail
    assert answer.refuted
    assert answer.confidence <= 0.1


async def test_examples_written_by_the_candidate_are_weak_evidence(scripted: ScriptedModel, root: Path) -> None:
    answer = await generate(scripted, root, RIGHT)
    assert said(answer, Check.DOCTEST).verdict is Ruling.PASS
    assert answer.metadata.evidence_tier is EvidenceTier.SELF_TESTED


async def test_a_test_written_before_the_function_proves_it(scripted: ScriptedModel, root: Path) -> None:
    (root / "test_largest.py").write_text(
        "from prices import largest\n\n\ndef test_new():\n    assert largest([1, 3]) == 3\n    assert not largest([])\n"
    )
    answer = await generate(scripted, root, RIGHT)
    assert said(answer, Check.TESTS).detail.startswith("1 test passes; 2 more do not execute the change")
    assert answer.metadata.evidence_tier is EvidenceTier.TESTED


async def test_an_uncalled_function_in_a_task_is_not_proven(scripted: ScriptedModel, root: Path) -> None:
    scripted.on(asks_for_tests, "I write none.")
    scripted.replies(["1. generate | prices.py | | write largest(prices)", code_reply(CONSTANT)])
    async with Bench(scripted, Settings(models=(ModelRow(name="*", samples=1),))) as bench:
        answer = await bench.run(
            "task", f"$0{MODULE}", path=root / "prices.py", workspace=Workspace((root,)), instruction="write largest"
        )
    assert answer.success, answer.message
    tests = said(answer, Check.TESTS)
    assert tests.verdict is not Ruling.PASS, tests
    assert answer.confidence < 0.6

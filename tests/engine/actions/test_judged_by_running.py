"""A refactoring that changes what the code does is repaired with the counter-example, or offered as refuted only."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.engine import Bench, code_reply
from support.scripted import ScriptedModel

from stet_ls.engine.models import Budget, Check, Ruling

OLD = """\
def common(a: list[int], b: list[int]) -> list[int]:
    return [x f$0or x in a if x in b]
"""
HEAD = "def common(a: list[int], b: list[int]) -> list[int]:\n"
GOOD = HEAD + "    known = set(b)\n    return [x for x in a if x in known]\n"
BAD = HEAD + "    return sorted(set(a) & set(b))\n"


@pytest.fixture(autouse=True)
def home(stet_home: Path) -> Path:
    return stet_home


async def test_a_counter_example_is_what_a_repair_is_asked_with(scripted: ScriptedModel) -> None:
    scripted.replies([code_reply(BAD), code_reply(GOOD)])
    async with Bench(scripted) as bench:
        answer = await bench.run("refactor", OLD)
    verdicts = {item.check: item.verdict for item in answer.evidence}
    if verdicts[Check.DIFFERENTIAL] is Ruling.UNKNOWN:
        pytest.skip(f"no code may run here: {answer.message}")
    assert (answer.success, answer.refuted, verdicts[Check.DIFFERENTIAL]) == (True, False, Ruling.PASS)
    assert "common(a, b)" in scripted.requests[-1].prompt
    assert "behaves alike on" in answer.message
    assert answer.confidence == 0.9


async def test_what_stays_different_is_refuted(scripted: ScriptedModel) -> None:
    scripted.replies([code_reply(BAD)] * 5)
    async with Bench(scripted) as bench:
        answer = await bench.run("refactor", OLD)
    if "no code may run" in answer.message:
        pytest.skip(f"no code may run here: {answer.message}")
    assert answer.refuted
    assert "differential FAILED" in answer.message
    assert answer.confidence == 0.1


async def test_quick_runs_nothing(scripted: ScriptedModel) -> None:
    scripted.replies([code_reply(GOOD)])
    async with Bench(scripted) as bench:
        answer = await bench.run("refactor", OLD, budget=Budget.QUICK)
    assert {item.check: item.verdict for item in answer.evidence}[Check.DIFFERENTIAL] is Ruling.SKIPPED
    assert "behaviour not compared" in answer.message


async def test_an_example_in_the_instruction_is_run(scripted: ScriptedModel) -> None:
    head = "def seconds(text: str) -> int:\n"
    wrong, right = f"{head}    return int(text)\n", f"{head}    return 60 * int(text.removesuffix('m'))\n"
    scripted.replies([code_reply(wrong), code_reply(right)])
    async with Bench(scripted) as bench:
        answer = await bench.run("generate", f"{head}    $0...\n", instruction="seconds('90m') gives 5400")
    assert "`seconds('90m')` should give 5400" in scripted.requests[1].prompt
    assert (answer.success, answer.refuted) == (True, False)
    assert "1 doctest pass" in answer.message

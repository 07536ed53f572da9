"""A refactoring that changes what the code does is repaired with the counter-example, or offered as refuted only."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.engine import Bench, code_reply
from support.servers.scripted import Reply, ScriptedModel

from stet_ls.engine.api.budget import Budget
from stet_ls.engine.api.evidence import Check, Ruling

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


async def test_a_repair_prompt_shows_the_counterexample(scripted: ScriptedModel) -> None:
    scripted.replies([code_reply(BAD), code_reply(GOOD)])
    async with Bench(scripted) as bench:
        answer = await bench.run("refactor", OLD)
    verdicts = {item.check: item.verdict for item in answer.evidence}
    if verdicts[Check.DIFFERENTIAL] is Ruling.UNKNOWN:
        pytest.skip(f"code cannot run here: {answer.message}")
    assert (answer.success, answer.refuted, verdicts[Check.DIFFERENTIAL]) == (True, False, Ruling.PASS)
    assert "`common([" in scripted.requests[-1].prompt
    assert "same behavior on" in answer.message
    assert answer.confidence == 0.9


async def test_code_that_still_differs_is_refuted(scripted: ScriptedModel) -> None:
    scripted.replies([code_reply(BAD)] * 5)
    async with Bench(scripted) as bench:
        answer = await bench.run("refactor", OLD)
    if "code may not run" in answer.message:
        pytest.skip(f"code cannot run here: {answer.message}")
    assert answer.refuted
    assert "differential FAILED" in answer.message
    assert answer.confidence == 0.1


@pytest.mark.parametrize(("code", "verdict"), [(GOOD, Ruling.PASS), (BAD, Ruling.FAIL)])
async def test_quick_compares_and_makes_one_call(scripted: ScriptedModel, code: str, verdict: Ruling) -> None:
    scripted.default = Reply(code_reply(code))
    async with Bench(scripted) as bench:
        await bench.run("refactor", OLD)  # the sandbox has been looked for by then
        before = len(scripted.requests)
        answer = await bench.run("refactor", OLD, budget=Budget.QUICK)
    said = {item.check: item for item in answer.evidence}
    if said[Check.DIFFERENTIAL].verdict is Ruling.UNKNOWN:
        pytest.skip(f"code may not run here, or not in time: {answer.message}")
    assert len(scripted.requests) - before == 1
    assert said[Check.DIFFERENTIAL].verdict is verdict
    assert said[Check.TESTS].verdict is Ruling.SKIPPED


async def test_quick_runs_examples(scripted: ScriptedModel) -> None:
    text = 'def half(n):\n    """Half.\n\n    >>> half(3)\n    1.5\n    """\n    return n$0 * 0.5\n'
    scripted.default = Reply(code_reply("def half(n):\n    return n // 2\n"))
    async with Bench(scripted) as bench:
        await bench.run("refactor", text)
        answer = await bench.run("refactor", text, budget=Budget.QUICK)
    reported = next(item for item in answer.evidence if item.check is Check.DOCTEST)
    if reported.verdict is Ruling.UNKNOWN:
        pytest.skip(f"code may not run here, or not in time: {answer.message}")
    assert (reported.verdict, reported.trusted) == (Ruling.FAIL, True)


async def test_endless_code_delays_quick_by_only_seconds(scripted: ScriptedModel) -> None:
    scripted.default = Reply(code_reply(f"{HEAD}    while True:\n        pass\n"))
    async with Bench(scripted) as bench:
        await bench.run("refactor", OLD)
        answer = await bench.run("refactor", OLD, budget=Budget.QUICK)
    assert sum(item.seconds for item in answer.evidence if item.check in (Check.DOCTEST, Check.DIFFERENTIAL)) < 10


async def test_an_example_in_the_instruction_is_run(scripted: ScriptedModel) -> None:
    head = "def seconds(text: str) -> int:\n"
    wrong, right = f"{head}    return int(text)\n", f"{head}    return 60 * int(text.removesuffix('m'))\n"
    scripted.replies([code_reply(wrong), code_reply(right)])
    async with Bench(scripted) as bench:
        answer = await bench.run("generate", f"{head}    $0...\n", instruction="seconds('90m') gives 5400")
    assert "`seconds('90m')` should return 5400" in scripted.requests[1].prompt
    assert (answer.success, answer.refuted) == (True, False)
    assert "1 doctest passes" in answer.message

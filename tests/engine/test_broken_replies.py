"""A reply that broke off, and code that stands only in what a model thought: neither is taken for an answer."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.engine import Bench, applied, code_reply
from support.servers.scripted import Reply, ScriptedModel

from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.budget import Budget
from stet_ls.engine.settings.schema import Checks, Settings

HEAD = "def double(x: int) -> int:\n"
OLD = f"{HEAD}    return x $0+ x\n"
NEW = f"{HEAD}    y = 2 * x\n    return y\n"
STUB = f"{HEAD}    $0...\n"
NO_REPAIR = Settings(checks=Checks(fix_attempts=0))


@pytest.fixture(autouse=True)
def home(stet_home: Path) -> Path:
    return stet_home


async def answer_to(
    scripted: ScriptedModel, reply: Reply, action: str, marked: str, settings: Settings = NO_REPAIR, **fields: Budget
) -> Answer:
    scripted.replies([reply] * 4)
    async with Bench(scripted, settings) as bench:
        return await bench.run(action, marked, instruction="Double it.", **fields)


async def test_a_stream_that_ends_without_a_stop_reason_is_incomplete(scripted: ScriptedModel) -> None:
    whole = code_reply(NEW)
    cut = Reply(whole.partition("    return")[0], finish=None, no_done=True)
    answer = await answer_to(scripted, cut, "refactor", OLD)
    assert (answer.success, answer.edits) == (False, ())
    assert any("neither a finish reason nor [DONE]" in each for each in answer.warnings), answer.warnings


async def test_a_reply_that_ended_before_any_code_is_reported_as_incomplete(scripted: ScriptedModel) -> None:
    answer = await answer_to(scripted, Reply("PLAN: I will", finish=None, no_done=True), "refactor", OLD)
    assert "The reply stopped before any code" in answer.message


@pytest.mark.parametrize("end", [Reply("", no_done=True), Reply("", finish="stop")], ids=["no [DONE]", "both"])
async def test_a_stream_with_a_stop_reason_is_complete(scripted: ScriptedModel, end: Reply) -> None:
    reply = Reply(code_reply(NEW), finish=end.finish, no_done=end.no_done)
    answer = await answer_to(scripted, reply, "refactor", OLD)
    assert not any("is incomplete" in each for each in answer.warnings)
    assert applied(answer) == NEW


@pytest.mark.parametrize("how", ["nothing to run", "quick", "unchecked"])
async def test_code_in_the_reasoning_alone_is_refused_unless_a_run_confirms_it(
    scripted: ScriptedModel, how: str
) -> None:
    """An empty body has nothing to be compared with, and no example and no test says what it is to do."""
    settings = Settings(checks=Checks(validation=False)) if how == "unchecked" else NO_REPAIR
    budget = Budget.QUICK if how == "quick" else Budget.STANDARD
    answer = await answer_to(scripted, Reply("", reasoning=code_reply(NEW)), "generate", STUB, settings, budget=budget)
    assert (answer.success, answer.edits) == (False, ())
    assert "only in the model's reasoning" in answer.message


async def test_code_in_the_reasoning_is_used_if_a_run_confirms_it(scripted: ScriptedModel) -> None:
    answer = await answer_to(scripted, Reply("", reasoning=code_reply(NEW)), "refactor", OLD)
    if "code may not run" in answer.message:
        pytest.skip(answer.message)
    assert applied(answer) == NEW
    assert any("only reasoning" in each for each in answer.warnings)


async def test_reasoning_in_the_text_is_not_an_answer(scripted: ScriptedModel) -> None:
    answer = await answer_to(scripted, Reply(f"<think>\n{code_reply(NEW)}"), "refactor", OLD)
    assert (answer.success, answer.edits) == (False, ())


CALLED = "".join(f"assert double({number}) == {2 * number}\n" for number in range(2000))


@pytest.mark.parametrize(
    ("chunks", "said"),
    [
        ([f"```python\n{NEW}", *CALLED.splitlines(keepends=True)], "continues after its code"),
        ([f"```python\n{NEW}", *(f"# {n}\n\n{NEW}" for n in range(500))], "continues after its code"),
        (["```python\n", HEAD, *["    x = x + 1\n"] * 500], "repeats itself"),
    ],
    ids=["calls", "definitions", "one line"],
)
async def test_a_reply_that_does_not_end_is_no_answer_and_another_is_drawn(
    scripted: ScriptedModel, chunks: list[str], said: str
) -> None:
    """It is stopped early, and the model does not read it: it would continue it."""
    scripted.replies([Reply(chunks=chunks, mode="endless"), Reply(code_reply(NEW))])
    async with Bench(scripted) as bench:
        answer = await bench.run("refactor", OLD, instruction="Double it.", budget=Budget.STANDARD)

    assert applied(answer) == NEW
    assert any(said in each for each in answer.warnings), answer.warnings
    scripted.wait_disconnect()
    first, second = (each.body for each in scripted.requests)
    assert first["messages"] == second["messages"]
    assert second["temperature"] > first["temperature"]


async def test_a_warm_sample_after_an_endless_reply_cools_down_for_the_repair(scripted: ScriptedModel) -> None:
    broken = code_reply(NEW.replace("return", "retrun"))
    scripted.models = ("gpt-5",)
    loop = Reply(chunks=["```python\n", *["    x = x + 1\n"] * 500], mode="endless")
    scripted.replies([loop, Reply(broken), Reply(code_reply(NEW))])
    async with Bench(scripted) as bench:
        answer = await bench.run("refactor", OLD, instruction="Double it.", budget=Budget.STANDARD)

    assert applied(answer) == NEW
    cold, warm, repair = (each.body["temperature"] for each in scripted.requests)
    assert cold == repair < warm


async def test_a_middle_sized_model_repairs_at_a_temperature_that_gives_another_answer(scripted: ScriptedModel) -> None:
    scripted.models = ("qwen2.5-coder:7b",)
    scripted.replies([Reply(code_reply(NEW.replace("return", "retrun"))), Reply(code_reply(NEW))])
    async with Bench(scripted) as bench:
        await bench.run("refactor", OLD, instruction="Double it.", budget=Budget.STANDARD)
    first, second = (each.body for each in scripted.requests)
    assert len(second["messages"]) > len(first["messages"]), "it is a repair"
    assert second["temperature"] > first["temperature"]

"""A job asks its model for example calls where nothing else reaches the code: once, in one short call, and not at all
costs.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from support.engine import Bench, applied, code_reply, said
from support.servers.scripted import Body, Reply, ScriptedModel

from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.budget import Budget
from stet_ls.engine.api.events import Stage
from stet_ls.engine.api.evidence import Check, Evidence, Ruling
from stet_ls.engine.settings.schema import Checks, Settings, Spending
from stet_ls.engine.settings.table_schemas import ModelRow

TOKEN = "ghp_" + "x9K2mQ7vB4nL8wR1tY6uP3sD5fG0hJ2kZ7cV"
BEFORE = '''
import json


def weight(parcel):
    """The weight of what a parcel, as text, sends by air, and one for what goes by sea."""
    $0total = 0
    for box in json.loads(parcel)["boxes"]:
        if box["by"] == "air":
            total += box["kilos"] * box["count"]
        elif box["by"] == "sea":
            total += 1
    return total
'''
RIGHT = BEFORE.replace("$0", "").partition("\n\n\n")[2].replace('["kilos"] * box["count"]', '["count"] * box["kilos"]')
WRONG = RIGHT.replace('box["count"] * ', "")
CALLS = """\
weight('{"boxes": [{"by": "air", "kilos": 2, "count": 3}, {"by": "sea"}]}')
weight('{"boxes": [{"by": "road"}]}')
weight('{"boxes": []}')
"""
ON = Checks(review="off", example_calls=True)
ONE_ATTEMPT = (ModelRow(name="*", samples=1, repairs=0),)


def asks_for_calls(body: Body) -> bool:
    return "different calls of `weight`" in str(body["messages"])


def asked(scripted: ScriptedModel) -> list[str]:
    return [each.prompt for each in scripted.requests if asks_for_calls(each.body)]


async def refactored(
    scripted: ScriptedModel, code: str, calls: Reply | str, *, is_on: bool = True, **fields: Any
) -> tuple[Answer, Evidence]:
    """The answer to a refactoring whose reply is `code`, and what the comparison says, given these example calls."""
    settings = Settings(models=ONE_ATTEMPT, checks=ON if is_on else Checks(review="off", example_calls=False))
    scripted.on(asks_for_calls, calls)
    scripted.reply(code_reply(code))
    async with Bench(scripted, settings) as bench:
        answer = await bench.run("refactor", BEFORE, **fields)
        assert [each.name for each in bench.events if isinstance(each, Stage)][-1] == "finish"
    return answer, said(answer, Check.DIFFERENTIAL)


@pytest.mark.usefixtures("stet_home")
class TestExampleCalls:
    async def test_they_refute_a_wrong_rewrite(self, scripted: ScriptedModel) -> None:
        answer, found = await refactored(scripted, WRONG, CALLS)
        assert answer.refuted
        assert found.verdict is Ruling.FAIL
        assert "(suggested by the model) was: 7, now: 3" in found.detail
        assert len(asked(scripted)) == 1
        assert answer.metadata.calls == 2, "it is one of the job's calls"
        assert answer.metadata.tokens.prompt + answer.metadata.tokens.completion == sum(scripted.claimed)

    async def test_they_prove_no_right_rewrite(self, scripted: ScriptedModel) -> None:
        answer, found = await refactored(scripted, RIGHT, CALLS)
        assert not answer.refuted
        assert found.verdict is Ruling.UNKNOWN
        assert "3 suggested by the model" in found.detail

    @pytest.mark.parametrize(
        "calls",
        [
            "",
            "I cannot know how it is called.",
            "weight(__import__('os').system('touch /tmp/stet-was-here'))\n",
            CALLS.replace("weight(", "other("),
            Reply.failure(401, "no"),
            Reply(CALLS, drop_after=0),
            Reply(mode="html"),
        ],
        ids=["empty", "prose", "code that runs", "another function", "refused", "broken off", "a page"],
    )
    async def test_without_usable_ones_the_result_is_as_without_any(
        self, scripted: ScriptedModel, calls: Reply | str
    ) -> None:
        without, before = await refactored(scripted, WRONG, CALLS, is_on=False)
        assert asked(scripted) == []
        scripted.reset()
        answer, found = await refactored(scripted, WRONG, calls)
        assert len(asked(scripted)) >= 1
        assert (found.verdict, found.detail, answer.refuted) == (before.verdict, before.detail, without.refuted)
        assert applied(answer) == applied(without)

    async def test_an_endpoint_that_fails_is_named_in_a_warning(self, scripted: ScriptedModel) -> None:
        answer, _ = await refactored(scripted, RIGHT, Reply.failure(401, "no"))
        (warning,) = (each for each in answer.warnings if each.startswith("No example calls for"))
        assert "rejected the key" in warning

    async def test_a_reply_that_does_not_end_in_time_counts_as_far_as_it_came(
        self, scripted: ScriptedModel, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("stet_ls.engine.job.example_calls._SECONDS", 2.0)
        answer, found = await refactored(scripted, WRONG, Reply(CALLS + "weight('", chunks=[CALLS], stall_after=1))
        assert answer.refuted, found

    async def test_a_silent_endpoint_is_not_waited_for(
        self, scripted: ScriptedModel, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("stet_ls.engine.job.example_calls._SECONDS", 0.5)
        answer, found = await refactored(scripted, WRONG, Reply(CALLS, first_delay=600))
        assert not answer.refuted
        assert found.verdict is Ruling.UNKNOWN
        assert "No example calls for the comparison: no reply in time (0.5 s at most)." in answer.warnings

    async def test_a_budget_without_a_further_call_gives_the_reason(self, scripted: ScriptedModel) -> None:
        answer, found = await refactored(scripted, WRONG, CALLS, budget=Budget.QUICK)
        assert asked(scripted) == []
        assert found.verdict is Ruling.UNKNOWN
        reason = "No example calls for the comparison: the budget quick allows 1 call."
        assert reason in answer.warnings

    async def test_the_limit_of_a_day_holds(self, scripted: ScriptedModel) -> None:
        scripted.on(asks_for_calls, CALLS)
        scripted.reply(code_reply(RIGHT), usage=(9000, 900))
        settings = Settings(models=ONE_ATTEMPT, checks=ON, spending=Spending(daily_tokens=10_000))
        async with Bench(scripted, settings) as bench:
            answer = await bench.run("refactor", BEFORE)
        assert asked(scripted) == []
        assert any("spending.daily_tokens" in each for each in answer.warnings)

    async def test_inputs_that_reach_the_code_cost_no_call(self, scripted: ScriptedModel) -> None:
        scripted.reply(code_reply("def double(x: int) -> int:\n    return x + x\n"))
        async with Bench(scripted, Settings(models=ONE_ATTEMPT, checks=ON)) as bench:
            answer = await bench.run("refactor", "def double(x: int) -> int:\n    $0return x * 2\n")
        assert said(answer, Check.DIFFERENTIAL).verdict is Ruling.PASS
        assert len(scripted.requests) == 1

    async def test_a_job_asks_once_for_all_of_its_candidates(self, scripted: ScriptedModel) -> None:
        scripted.on(asks_for_calls, CALLS)
        scripted.replies([code_reply(WRONG), code_reply(RIGHT)])
        settings = Settings(models=(ModelRow(name="*", samples=1, repairs=2),), checks=ON)
        async with Bench(scripted, settings) as bench:
            answer = await bench.run("refactor", BEFORE)
        assert not answer.refuted
        assert len(asked(scripted)) == 1
        assert answer.metadata.calls == 3

    async def test_it_sees_the_code_without_secrets(self, scripted: ScriptedModel) -> None:
        marked = BEFORE.replace("total = 0", f'total = 0 * len("{TOKEN}")')
        scripted.on(asks_for_calls, CALLS)
        scripted.reply(code_reply(RIGHT))
        async with Bench(scripted, Settings(models=ONE_ATTEMPT, checks=ON)) as bench:
            await bench.run("refactor", marked)
        (prompt,) = asked(scripted)
        assert "as text, sends by air" in prompt
        assert TOKEN not in prompt
        assert "<data-" in prompt

    async def test_cancelling_ends_the_request(self, scripted: ScriptedModel) -> None:
        scripted.on(asks_for_calls, Reply(CALLS, first_delay=600, head_first=True))
        scripted.reply(code_reply(WRONG))
        async with Bench(scripted, Settings(models=ONE_ATTEMPT, checks=ON)) as bench:
            job = asyncio.create_task(bench.run("refactor", BEFORE))
            await asyncio.to_thread(scripted.wait_request, 2)
            job.cancel()
            with pytest.raises(asyncio.CancelledError):
                await job
            await asyncio.to_thread(scripted.wait_disconnect)

"""An identical request on an identical text: the model's reply comes from the cache, the evidence does not."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest
from support.engine import Bench, applied, code_reply
from support.servers.scripted import ScriptedModel

from stet_ls.engine.api.answer import Answer, EditOutcome
from stet_ls.engine.api.budget import Budget
from stet_ls.engine.settings.schema import ModelSettings, Settings
from stet_ls.engine.storage.paths import user_paths

SIGN = "def sign(x):\n    $0if x > 0:\n        return 1\n    return 0 if x == 0 else -1\n"
SHORT = "def sign(x):\n    return (x > 0) - (x < 0)\n"
CACHING = Settings(model=ModelSettings(cache=True))


@pytest.fixture(autouse=True)
def home(stet_home: Path) -> Path:
    return stet_home


async def asked(scripted: ScriptedModel, settings: Settings = CACHING, text: str = SIGN, **fields: Any) -> Answer:
    """A new engine each time, as each command has."""
    async with Bench(scripted, settings) as bench:
        return await bench.run("refactor", text, budget=Budget.QUICK, **fields)


async def test_it_is_answered_once_and_said(scripted: ScriptedModel) -> None:
    scripted.default = code_reply(SHORT)
    first, second = await asked(scripted), await asked(scripted)
    assert len(scripted.requests) == 1
    assert applied(second) == applied(first) == SHORT
    assert "the model's reply is from the cache" in second.message
    assert "from the cache" not in first.message
    assert (second.metadata.calls, second.metadata.cached, second.metadata.tokens.prompt) == (0, 1, 0)
    assert [each.check for each in second.evidence] == [each.check for each in first.evidence]
    assert second.metadata.model == "scripted-7b"


@pytest.mark.parametrize(
    "other",
    [
        {"instruction": "shorter"},
        {"text": SIGN.replace("x == 0", "0 == x")},
        {"fresh": True},
        {"settings": Settings(model=ModelSettings(cache=False))},
        {"settings": Settings(model=ModelSettings(cache=True, temperature=0.9))},
    ],
    ids=["instruction", "text", "fresh", "off", "temperature"],
)
async def test_anything_else_asks_again(scripted: ScriptedModel, other: dict[str, Any]) -> None:
    scripted.default = code_reply(SHORT)
    await asked(scripted)
    await asked(scripted, **other)
    assert len(scripted.requests) == 2


async def test_a_reply_that_led_to_nothing_is_not_kept(scripted: ScriptedModel) -> None:
    scripted.default = code_reply("def sign(x:\n")
    await asked(scripted)
    await asked(scripted)
    assert len(scripted.requests) == 2
    assert not list(user_paths().replies.glob("*.json"))


async def test_an_edit_that_was_undone_is_asked_for_again(scripted: ScriptedModel) -> None:
    scripted.default = code_reply(SHORT)
    async with Bench(scripted, CACHING) as bench:
        answer = await bench.run("refactor", SIGN, budget=Budget.QUICK)
        await bench.engine.learn_outcome(answer.metadata.trace, EditOutcome.UNDONE, SIGN.replace("$0", ""))
        await bench.run("refactor", SIGN, budget=Budget.QUICK)
    assert len(scripted.requests) == 2


async def test_a_prompt_with_a_secret_is_never_kept(scripted: ScriptedModel) -> None:
    scripted.default = code_reply(SHORT)
    text = 'password = "hunter2-Xk29-long-enough"\n\n\n' + SIGN
    await asked(scripted, text=text)
    assert not list(user_paths().replies.glob("*.json")) or "hunter2" not in "".join(
        each.read_text() for each in user_paths().replies.glob("*.json")
    )


async def test_a_damaged_record_counts_as_missing(scripted: ScriptedModel) -> None:
    scripted.default = code_reply(SHORT)
    await asked(scripted)
    for each in user_paths().replies.glob("*.json"):
        each.write_text('{"text": 1')
    assert (await asked(scripted)).success
    assert len(scripted.requests) == 2


async def test_a_reply_that_is_too_old_is_asked_for_again_and_old_ones_are_deleted(scripted: ScriptedModel) -> None:
    scripted.default = code_reply(SHORT)
    await asked(scripted)
    await asked(scripted, instruction="shorter")
    asked_again, forgotten = sorted(user_paths().replies.glob("*.json"), key=lambda each: each.stat().st_mtime)
    two_days_ago = time.time() - 2 * 24 * 3600
    for each in (asked_again, forgotten):
        os.utime(each, (two_days_ago, two_days_ago))
    await asked(scripted)
    assert len(scripted.requests) == 2, "30 days are the default"
    one_day = Settings(model=ModelSettings(cache=True, cache_days=1))
    await asked(scripted, one_day)
    assert len(scripted.requests) == 3
    assert list(user_paths().replies.glob("*.json")) == [asked_again], "written anew; the other is gone"

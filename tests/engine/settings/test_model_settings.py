"""What the settings of single models, prices and repairs do to a job, seen at the endpoint."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.engine import code_reply, request_for
from support.servers.scripted import Reply, ScriptedModel

from stet_ls.engine.api.budget import Budget
from stet_ls.engine.run import Engine
from stet_ls.engine.settings.schema import Checks, ModelSettings, Settings
from stet_ls.engine.settings.table_schemas import ModelRow, Provider
from stet_ls.engine.storage.paths import user_paths

CODE = "def ad$0d(a, b):\n    return a - b\n"
FIXED = code_reply("def add(a, b):\n    return a + b")
BROKEN = code_reply("def add(a, b:\n    return a + b")

pytestmark = pytest.mark.usefixtures("stet_home")


async def answer(scripted: ScriptedModel, action: str = "debug", *, budget: Budget = Budget.STANDARD, **settings):
    """The answer of an engine with such settings; the provider may be given as keywords of its own."""
    price = settings.pop("price", {})
    provider = Provider(name="scripted", base_url=scripted.base_url, model=scripted.models[0], **price)
    engine = Engine(Settings(providers=(provider,), **settings), user_paths())
    try:
        return await engine.run(request_for(action, CODE, instruction="fix it", budget=budget))
    finally:
        await engine.close()


@pytest.mark.parametrize(
    ("rows", "action", "temperature", "tokens"),
    [
        ((), "debug", 0.1, 1000),
        ((ModelRow(name="other*", temperature=0.9),), "debug", 0.1, 1000),
        ((ModelRow(name="SCRIPTED-*", temperature=0.5, max_tokens=300),), "debug", 0.5, 300),
        ((ModelRow(name="*", role="reviewer", temperature=0.5),), "debug", 0.1, 1000),
        ((ModelRow(name="*", role="reviewer", temperature=0.5, max_tokens=99),), "explain", 0.5, 99),
        ((ModelRow(name="*", temperature=0.5), ModelRow(name="scripted-7b", temperature=0.7)), "debug", 0.7, 1000),
    ],
)
async def test_a_row_sets_the_parameters_of_its_model(
    rows: tuple[ModelRow, ...], action: str, temperature: float, tokens: int, scripted: ScriptedModel
) -> None:
    scripted.reply(FIXED)
    await answer(scripted, action, models=rows)
    body = scripted.requests[0].body
    assert (body["temperature"], body["max_tokens"]) == (temperature, tokens)


async def test_a_temperature_set_by_the_user_overrides_the_model_row(scripted: ScriptedModel) -> None:
    scripted.models = ("qwq-32b",)
    scripted.replies([FIXED, FIXED])
    await answer(scripted, model=ModelSettings(temperature=0.3))
    await answer(scripted)
    assert [request.body["temperature"] for request in scripted.requests] == [0.3, 0.6]


ONE = (ModelRow(name="*", samples=1),)
"""No second sample, which would cost too."""


async def test_a_reasoning_model_may_think_before_it_answers(scripted: ScriptedModel) -> None:
    scripted.models = ("deepseek-r1:32b",)
    scripted.reply(FIXED)
    await answer(scripted)
    assert scripted.requests[0].body["max_tokens"] == 5000


@pytest.mark.parametrize(
    ("settings", "calls"),
    [
        ({}, 3),
        ({"models": (ModelRow(name="*", repairs=1),)}, 2),
        ({"models": (ModelRow(name="*", repairs=0),)}, 1),
        ({"checks": Checks(fix_attempts=1), "models": (ModelRow(name="*", repairs=2),)}, 2),
        ({"checks": Checks(auto_fix=False)}, 1),
    ],
    ids=["as ever", "one", "none", "the user's number", "off"],
)
async def test_the_number_of_repairs_follows_the_profile(settings: dict, calls: int, scripted: ScriptedModel) -> None:
    scripted.default = BROKEN
    assert not (await answer(scripted, **settings)).success
    assert len(scripted.requests) == calls


@pytest.mark.parametrize(
    ("price", "cost"),
    [({}, 0.0), ({"price_in": 1000.0, "price_out": 10_000.0}, 0.7), ({"price_in": 1000.0, "price_out": 0.0}, 0.5)],
    ids=["on this machine", "both", "free answers"],
)
async def test_a_job_sums_its_costs(price: dict, cost: float, scripted: ScriptedModel) -> None:
    scripted.reply(FIXED, usage=(500, 20))
    assert (await answer(scripted, price=price, models=ONE)).metadata.cost == pytest.approx(cost)


async def test_repairs_are_included_in_the_cost(scripted: ScriptedModel) -> None:
    scripted.replies([Reply(BROKEN, usage=(100, 10)), Reply(FIXED, usage=(200, 10))])
    reported = await answer(scripted, price={"price_in": 1000.0, "price_out": 1000.0}, models=ONE)
    assert reported.metadata.cost == pytest.approx(0.32)


async def test_the_cost_of_an_uncounted_call_is_estimated_from_its_text(scripted: ScriptedModel) -> None:
    scripted.reply(FIXED, usage=False)
    cost = (await answer(scripted, price={"price_in": 1000.0, "price_out": 1000.0})).metadata.cost
    assert 0.1 < cost < 3


def test_a_call_that_was_not_sent_costs_nothing(stet_home: Path) -> None:
    from stet_ls.engine.job.usage import JobUsage

    assert JobUsage().cost == 0

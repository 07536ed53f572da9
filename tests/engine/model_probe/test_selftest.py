"""The self-test against a scripted model: what it finds, what it keeps, and when it stops."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable

import pytest
from support.engine import code_reply
from support.servers.scripted import Body, Reply, ScriptedModel

from stet_ls.engine.api.events import ignore
from stet_ls.engine.errors import EndpointError, Fault
from stet_ls.engine.model.endpoint.endpoint_client import EndpointClient
from stet_ls.engine.model.pool import ModelPool
from stet_ls.engine.model.profiles.profile_store import ProfileStore, Share
from stet_ls.engine.model_probe.selftest import self_test
from stet_ls.engine.model_probe.tasks import BEGUN, BEGUN_PROMPT, BLOCKS, SECRET_WORD, UNITS
from stet_ls.engine.settings.schema import ModelSettings, Settings
from stet_ls.engine.settings.table_schemas import Provider
from stet_ls.engine.storage.paths import user_paths

SOLUTIONS = (
    "def total(items):\n    result = 0\n    for item in items:\n        result += item.price\n    return result",
    "def names(users):\n    return [user.name for user in users if user.active]",
    "export function last(items) {\n  return items[items.length - 1];\n}",
    "def clamp(value, low, high):\n    if value < low:\n        return low\n    return min(value, high)",
)
BLOCK_REPLIES = (
    "<<<<<<< SEARCH\n    def __init__(self, host, port=80, timeout=30):\n=======\n"
    "    def __init__(self, host, port=443, timeout=30):\n>>>>>>> REPLACE",
    "<<<<<<< SEARCH\n    def describe(self):\n=======\n    def summary(self):\n>>>>>>> REPLACE",
)


def clever(body: Body) -> Reply:
    """Right answers to everything that the self-test asks."""
    prompt = "\n".join(str(message["content"]) for message in body["messages"])
    if SECRET_WORD in prompt:
        return Reply(SECRET_WORD)
    if BEGUN_PROMPT in prompt:
        return Reply("3\n4")
    if "test run ended" in prompt:
        return Reply('{"kind": "environment", "line": 3}')
    for task, block in zip(BLOCKS, BLOCK_REPLIES, strict=True):
        if task.instruction in prompt:
            return Reply(block, delay=0.001)
    for unit, code in zip(UNITS, SOLUTIONS, strict=True):
        if unit.instruction in prompt:
            return Reply(code_reply(code, unit.language), delay=0.001)
    raise AssertionError(prompt)


@pytest.fixture
async def client_of(stet_home) -> AsyncIterator[Callable[..., EndpointClient]]:
    """Makes the client of a scripted server."""
    made: list[ModelPool] = []

    def make(server: ScriptedModel, **provider) -> EndpointClient:
        provider = {
            "name": "s",
            "base_url": server.base_url,
            "model": "some-7b",
            "timeout_first_token": 60.0,
            **provider,
        }
        alone = ModelSettings(discover=False, embedded="off")
        made.append(ModelPool(Settings(providers=(Provider(**provider),), model=alone), user_paths()))
        (client,) = made[-1]._configured
        return client

    yield make
    for models in made:
        await models.close()


async def test_a_capable_model_gets_a_good_profile(scripted: ScriptedModel, client_of) -> None:
    scripted.default = clever
    finding = await self_test(client_of(scripted), seconds=60, on_event=ignore)
    probe, profile = finding.probe, finding.profile
    assert (probe.well_formed, probe.solved, probe.search_replace) == (Share(4, 4), Share(4, 4), Share(2, 2))
    assert (probe.json, probe.streams, probe.usage) == ("schema", True, True)
    assert (probe.calls, probe.cost, finding.left_out) == (9, 0.0, ())
    assert profile.begins
    assert probe.context_from == "measured"
    assert probe.tokens > 1000
    assert (profile.search_replace, profile.json, profile.samples) == (True, True, 2)
    assert profile.tokens_per_second is not None


@pytest.mark.parametrize(
    ("reply", "begins"),
    [
        (Reply("3\n4\n"), True),
        (Reply(f"{BEGUN}3\n4"), True),
        (Reply("```\n1\n2\n3\n4\n```\nfinished"), False),
        (Reply("3\n4\n```\nfinished"), False),
        (Reply.failure(400, "the last message must have the role `user`"), False),
    ],
    ids=["continues", "sends the beginning too", "starts again", "ignores the stop", "refuses"],
)
async def test_only_an_endpoint_that_continues_and_stops_gets_its_replies_begun(
    reply: Reply, begins: bool, scripted: ScriptedModel, client_of
) -> None:
    scripted.default = lambda body: reply if body["messages"][-1]["content"] == BEGUN else clever(body)
    finding = await self_test(client_of(scripted), seconds=60, on_event=ignore)
    assert finding.profile.begins is begins
    assert finding.probe.solved == Share(4, 4), "the rest of the self-test continued"


async def test_the_profile_is_available_to_the_next_server(scripted: ScriptedModel, client_of) -> None:
    scripted.default = clever
    finding = await self_test(client_of(scripted), seconds=60, on_event=ignore)
    assert await client_of(scripted).profile() == finding.profile
    record, problem = ProfileStore(user_paths().profiles).load(scripted.base_url, "some-7b")
    assert (record.probe, problem) == (finding.probe, "")


async def test_a_weak_model_is_recognized(scripted: ScriptedModel, client_of) -> None:
    scripted.default = Reply("Sure! Here is what I think about it.", usage=False)
    finding = await self_test(client_of(scripted), seconds=60, on_event=ignore)
    probe = finding.probe
    assert (probe.well_formed, probe.solved, probe.search_replace) == (Share(0, 4), Share(0, 4), Share(0, 2))
    assert (probe.json, probe.usage, probe.tokens) == ("no", False, 0)
    assert (finding.profile.search_replace, finding.profile.repairs) == (False, 3)
    assert (probe.context, probe.context_from) == (0, "")


async def test_wrong_code_counts_as_well_formed_but_not_as_solved(scripted: ScriptedModel, client_of) -> None:
    scripted.default = lambda body: Reply(code_reply("def total(items):\n    return reslt"))
    probe = (await self_test(client_of(scripted), seconds=60, on_event=ignore)).probe
    assert probe.solved == Share(0, 4)
    assert probe.well_formed.good >= 1


@pytest.mark.parametrize(
    "block",
    [
        BLOCK_REPLIES[0].replace("port=80", "port=81"),
        BLOCK_REPLIES[0].replace("443, timeout=30", "443, timeout=3"),
        "port=443",
    ],
    ids=["does not fit", "changes more", "is none"],
)
async def test_blocks_that_do_anything_else_do_not_prove_the_format(
    block: str, scripted: ScriptedModel, client_of
) -> None:
    def answer(body: Body) -> Reply:
        prompt = str(body["messages"][-1]["content"])
        return Reply(block) if BLOCKS[0].instruction in prompt else clever(body)

    scripted.default = answer
    finding = await self_test(client_of(scripted), seconds=60, on_event=ignore)
    assert finding.probe.search_replace == Share(1, 2)
    assert not finding.profile.search_replace


@pytest.mark.parametrize(
    ("allowed", "json"), [("json_object", "object"), ("nothing", "no")], ids=["objects only", "no form at all"]
)
async def test_unsupported_reply_formats_are_detected(
    allowed: str, json: str, scripted: ScriptedModel, client_of
) -> None:
    def answer(body: Body) -> Reply:
        form = body.get("response_format")
        if form and form["type"] != allowed:
            return Reply.failure(400, "response_format is not supported")
        return clever(body)

    scripted.default = answer
    assert (await self_test(client_of(scripted), seconds=60, on_event=ignore)).probe.json == json


async def test_an_endpoint_without_streaming_is_detected(scripted: ScriptedModel, client_of) -> None:
    scripted.default = lambda body: Reply(clever(body).text, mode="json")
    assert (await self_test(client_of(scripted), seconds=60, on_event=ignore)).probe.streams is False


async def test_a_truncated_prompt_reveals_the_context_size(scripted: ScriptedModel, client_of) -> None:
    """What Ollama does with its default of 4096 tokens."""

    def answer(body: Body) -> Reply:
        long = len(str(body["messages"][-1]["content"])) > 10_000
        return Reply("which word?", usage=(2051, 3)) if long else clever(body)

    scripted.default = answer
    finding = await self_test(client_of(scripted), seconds=60, on_event=ignore)
    assert (finding.probe.context, finding.probe.context_from) == (2051, "cut")
    assert finding.profile.context == 2051


async def test_the_listed_context_size_is_used(scripted: ScriptedModel, client_of) -> None:
    scripted.listing = Reply(raw=b'{"data":[{"id":"some-7b","max_model_len":1234,"max_completion_tokens":321}]}')
    scripted.default = clever
    probe = (await self_test(client_of(scripted), seconds=60, on_event=ignore)).probe
    assert (probe.context, probe.max_output) == (1234, 321)


async def test_a_step_without_enough_time_is_not_started(scripted: ScriptedModel, client_of) -> None:
    scripted.default = clever
    finding = await self_test(client_of(scripted), seconds=0, on_event=ignore)
    assert finding.probe.calls == 1
    assert finding.left_out == ("JSON", "whole units", "search/replace", "begun replies", "context")
    assert finding.probe.well_formed.tried == 1


async def test_a_paid_endpoint_gets_no_long_prompt_and_its_cost_is_counted(scripted, client_of) -> None:
    scripted.default = clever
    client = client_of(scripted, price_in=1.0, price_out=2.0)
    probe = (await self_test(client, seconds=60, on_event=ignore)).probe
    assert probe.calls == 8
    assert probe.cost is not None
    assert probe.cost > 0
    assert not any(SECRET_WORD in request.prompt for request in scripted.requests)


async def test_a_refusal_is_reported_and_nothing_is_stored(scripted: ScriptedModel, client_of) -> None:
    scripted.default = Reply.failure(401, "bad key")
    with pytest.raises(EndpointError, match="bad key") as raised:
        await self_test(client_of(scripted), seconds=60, on_event=ignore)
    assert raised.value.fault is Fault.UNAUTHORIZED
    assert list(ProfileStore(user_paths().profiles).all()) == []


async def test_a_cancelled_self_test_stores_nothing(scripted: ScriptedModel, client_of) -> None:
    scripted.default = Reply("never", hold=threading.Event())
    task = asyncio.create_task(self_test(client_of(scripted), seconds=60, on_event=ignore))
    await asyncio.to_thread(scripted.wait_request)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.to_thread(scripted.wait_disconnect)
    assert list(ProfileStore(user_paths().profiles).all()) == []

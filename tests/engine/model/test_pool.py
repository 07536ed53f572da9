"""Which model serves, and what is reported when it is not the first."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import time
from collections.abc import Iterator

import pytest
from pydantic import SecretStr
from support.servers.scripted import Reply, ScriptedModel, dead_endpoint

from stet_ls.engine.api.events import Notice, Progress
from stet_ls.engine.api.message import Message
from stet_ls.engine.errors import EndpointError, Fault
from stet_ls.engine.model.chat import Sampling, Usage
from stet_ls.engine.model.endpoint.sse import EventReader
from stet_ls.engine.model.endpoint.stream_reader import StreamReader
from stet_ls.engine.model.pool import ModelPool
from stet_ls.engine.settings.schema import LogSettings, Settings
from stet_ls.engine.settings.table_schemas import Provider
from stet_ls.engine.storage.paths import Paths


@pytest.fixture
def second() -> Iterator[ScriptedModel]:
    with ScriptedModel(default=Reply("from the second")) as model:
        yield model


def _to(model: ScriptedModel, provider: Provider) -> Provider:
    return provider.model_copy(update={"name": "second", "base_url": model.base_url})


@pytest.mark.parametrize(
    ("script", "reason", "requests"),
    [
        ([Reply.failure(401, "bad key")], "rejected the key (401): bad key", 1),
        ([Reply.failure(429, "no money", code="insufficient_quota")], "quota is used up (429): no money", 1),
        ([Reply.failure(500)] * 3, "failed (500)", 3),
        (
            [Reply(mode="html")] * 3,
            "a web page; the address lacks its version path, such as /v1, or a proxy or sign-in",
            3,
        ),
        ([Reply("never", first_delay=60)], "did not start to reply", 1),
    ],
    ids=["key", "quota", "server", "page", "silence"],
)
async def test_the_next_provider_takes_over_and_the_reason_is_shown(
    script,
    reason: str,
    requests: int,
    scripted: ScriptedModel,
    second: ScriptedModel,
    pool,
    provider: Provider,
    hasty: Provider,
) -> None:
    asker = pool(hasty if script[0].first_delay else provider, _to(second, provider))
    scripted.replies(script)
    completion = await asker.ask()
    assert (completion.text, completion.endpoint) == ("from the second", "second")
    assert completion.requests == requests + 1
    (notice,) = [e.message for e in asker.events if isinstance(e, Notice) and e.message.endswith("instead.")]
    assert reason in notice
    assert f"Using second ({second.base_url})" in notice


async def test_an_incomplete_reply_is_not_requested_elsewhere(
    scripted: ScriptedModel, second: ScriptedModel, pool, provider: Provider
) -> None:
    scripted.reply("a b c", drop_after=2)
    assert (await pool(provider, _to(second, provider)).ask()).finish == "cut"
    assert second.requests == []


async def test_if_all_endpoints_fail_each_is_named(scripted: ScriptedModel, pool, provider: Provider) -> None:
    with dead_endpoint() as base_url:
        asker = pool(provider.model_copy(update={"name": "dead", "base_url": base_url}), provider)
        scripted.replies([Reply.failure(401, "bad key")])
        with pytest.raises(EndpointError, match=r"dead .*connection refused.*scripted .*bad key") as raised:
            await asker.ask()
    assert raised.value.fault is Fault.UNAUTHORIZED
    assert raised.value.exit_code == 3


async def test_the_first_chat_model_is_used_if_none_is_named(scripted, pool, provider: Provider) -> None:
    scripted.models = ("text-embedding-3-small", "whisper-1", "big-30b", "other")
    asker = pool(provider.model_copy(update={"model": ""}))
    assert (await asker.ask()).model == "big-30b"
    await asker.ask()
    assert len(scripted.probes) == 1


async def test_a_server_without_models_is_a_fault(scripted: ScriptedModel, pool, provider: Provider) -> None:
    scripted.models = ()
    with pytest.raises(EndpointError, match="lists no usable model"):
        await pool(provider.model_copy(update={"model": ""})).ask()


async def test_the_request_has_the_expected_parameters(scripted: ScriptedModel, pool, provider: Provider) -> None:
    scripted.reply("fine", usage=(12, 34))
    asker = pool(provider.model_copy(update={"api_key": SecretStr(" key\n"), "organization": "org-1"}))
    completion = await asker.ask()
    (request,) = scripted.requests
    assert request.headers["authorization"] == "Bearer key"
    assert request.headers["openai-organization"] == "org-1"
    assert request.body == {
        "model": "scripted-7b",
        "messages": [{"role": "system", "content": "You write code."}, {"role": "user", "content": "Add two numbers."}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": 0.2,
        "max_tokens": 400,
    }
    assert completion.usage == Usage(12, 34)
    assert 0 < completion.first_token_seconds <= completion.seconds


async def test_unrelated_environment_variables_do_not_change_the_request(
    scripted: ScriptedModel, second: ScriptedModel, asker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a proxy between us and this machine, nor someone else's organization or endpoint."""
    monkeypatch.setenv("HTTP_PROXY", second.base_url)
    monkeypatch.setenv("ALL_PROXY", second.base_url)
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-another-endpoint")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-of-another-endpoint")
    monkeypatch.setenv("OPENAI_BASE_URL", second.base_url)
    await asker.ask()
    await asker.models.health()
    assert second.requests == second.probes == []
    assert not {"openai-organization", "openai-project"} & scripted.requests[0].headers.keys()


async def test_a_redirect_is_not_followed_with_a_prompt(scripted: ScriptedModel, second: ScriptedModel, asker) -> None:
    scripted.replies([Reply.failure(307, location=second.base_url + "/chat/completions")])
    with pytest.raises(EndpointError, match="redirects"):
        await asker.ask()
    assert second.requests == second.probes == []


async def test_speed_is_measured_and_shown_in_the_profile(scripted: ScriptedModel, asker) -> None:
    assert (await asker.models.profile()).tokens_per_second is None
    scripted.reply("word " * 21, delay=0.01)
    began = time.monotonic()
    await asker.ask()
    took = time.monotonic() - began
    measured = (await asker.models.profile()).tokens_per_second
    assert measured is not None
    assert 20 / took <= measured <= 100


async def test_the_profile_follows_the_model_that_served(
    scripted: ScriptedModel, second: ScriptedModel, pool, provider: Provider
) -> None:
    big = _to(second, provider).model_copy(update={"model": "gpt-5", "context": 5000})
    asker = pool(provider, big)
    assert (await asker.models.profile()).tier == "mid"
    scripted.replies([Reply.failure(401)])
    await asker.ask()
    profile = await asker.models.profile()
    assert (profile.tier, profile.context) == ("strong", 5000)


async def test_the_context_size_listed_by_a_server_is_used(scripted: ScriptedModel, pool, provider: Provider) -> None:
    scripted.listing = Reply(raw=b'{"data":[{"id":"m-7b","max_model_len":12345}]}')
    assert (await pool(provider.model_copy(update={"model": ""})).models.profile()).context == 12345


async def test_an_unreachable_model_has_a_profile(pool, provider: Provider) -> None:
    with dead_endpoint() as base_url:
        asker = pool(provider.model_copy(update={"model": "", "base_url": base_url}))
        assert (await asker.models.profile()).tier == "mid"


@pytest.mark.parametrize(
    ("listing", "status", "fault"),
    [
        (None, "ready", None),
        (Reply.failure(404), "ready", None),
        (Reply.failure(401, "bad key"), "refused", "bad key"),
        (Reply.failure(500), "failing", "500"),
        (Reply(mode="html"), "failing", "not JSON"),
        (Reply("never", first_delay=60), "silent", "within"),
    ],
    ids=["fine", "no list", "key", "500", "page", "silent"],
)
async def test_health_reports_the_endpoint(
    listing: Reply | None,
    status: str,
    fault: str | None,
    scripted: ScriptedModel,
    asker,
    request: pytest.FixtureRequest,
) -> None:
    scripted.listing = listing
    if status == "silent":
        request.getfixturevalue("short_time_limits")
    began = time.monotonic()
    health = await asker.models.health()
    assert time.monotonic() - began < 30, "whoever is silent is so for a minute"
    assert (health["status"], health["endpoint"]) == (status, "scripted")
    assert health["base_url"] == scripted.base_url
    assert fault is None if health["last_fault"] is None else fault in health["last_fault"]


async def test_health_of_a_chain_names_the_first_that_is_ready(second: ScriptedModel, pool, provider: Provider) -> None:
    with dead_endpoint() as base_url:
        health = await pool(provider.model_copy(update={"base_url": base_url}), _to(second, provider)).models.health()
    assert (health["status"], health["endpoint"]) == ("ready", "second")
    assert [row["status"] for row in health["endpoints"]] == ["unreachable", "ready"]


async def test_health_shows_the_last_fault(scripted: ScriptedModel, asker) -> None:
    scripted.replies([Reply.failure(400, "nonsense")])
    with pytest.raises(EndpointError):
        await asker.ask()
    health = await asker.models.health()
    assert health["status"] == "ready"
    assert "nonsense" in health["last_fault"]


async def test_two_concurrent_calls_succeed(scripted: ScriptedModel, asker) -> None:
    scripted.default = lambda body: body["messages"][0]["content"]
    texts = [f"number {number}" for number in range(8)]
    replies = await asyncio.gather(*(asker.ask([Message("user", text)]) for text in texts))
    assert [reply.text for reply in replies] == texts


@pytest.mark.parametrize("asked", [True, False])
async def test_prompts_are_logged_only_if_enabled(
    asked: bool, scripted, paths: Paths, provider: Provider, caplog
) -> None:
    """At the finest level too, where the SDK writes whole requests."""
    caplog.set_level("DEBUG")
    scripted.reply("secret reply")
    models = ModelPool(Settings(providers=(provider,), log=LogSettings(prompts=asked)), paths)
    await models.complete([Message("user", "secret prompt")], sampling=Sampling(0.2, 50), deadline=10)
    await models.close()
    assert ("secret prompt" in caplog.text, "secret reply" in caplog.text) == (asked, asked)


async def test_progress_distinguishes_reasoning_from_the_answer(scripted: ScriptedModel, asker) -> None:
    scripted.reply("x = 1", reasoning="Let me see.")
    await asker.ask()
    messages = [event for event in asker.events if isinstance(event, Progress)]
    assert messages[:2] == [Progress(1, thinking=True), Progress(2, text="x ")], "at once"


async def test_a_burst_of_events_does_not_block_the_loop(scripted: ScriptedModel, pool, provider: Provider) -> None:
    """A proxy that hands over a long reply at once must not freeze the editor for as long as reading it takes."""
    asker = pool(provider)
    await asker.ask()
    event = b'data: {"choices":[{"index":0,"delta":{"content":"some "},"finish_reason":null}]}\n\n'
    end = b'data: {"choices":[{"index":0,"delta":{"content":"end"},"finish_reason":"stop"}]}\n\n'
    words = b"".join(event.replace(b"some", b"word%d" % number) for number in range(3000))
    words += b'data: {"choices":[{"index":0,"delta":{},"finish_reason":null}]}\n\n' * 20_000
    scripted.reply(raw=words + end)
    asking = asyncio.create_task(asker.ask(max_tokens=10_000))
    gc.collect()
    gc.disable()  # what it takes hangs on all that other tests left
    try:
        longest, whole = 0.0, _seconds_to_take(words)
        while not asking.done():
            before = time.thread_time()
            await asyncio.sleep(0)
            longest = max(longest, time.thread_time() - before)
    finally:
        gc.enable()
    assert (await asking).text.endswith("word2999 end")
    assert longest < whole / 2


def _seconds_to_take(events: bytes) -> float:
    """Of this thread alone, for taking them all in one go: the server and the machine have work of their own."""
    began, reading = time.thread_time(), StreamReader()
    for event in EventReader().feed(events):
        reading.take(json.loads(event), max_tokens=10_000)
    return time.thread_time() - began


def test_the_environment_of_a_child_has_only_the_configured_endpoint(environment) -> None:
    ours = {name for name in environment if name.startswith(("STET_", "OPENAI_"))}
    endpoint = {"STET_BASE_URL", "STET_MODEL", "STET_API_KEY"}
    off = {"STET_MEMORY_ENABLED", "STET_MODEL_CACHE", "STET_CHECKS_REVIEW", "STET_CHECKS_EXAMPLE_CALLS"}
    assert ours == {"STET_HOME", *endpoint, *off}
    assert os.environ["STET_HOME"] == environment["STET_HOME"]

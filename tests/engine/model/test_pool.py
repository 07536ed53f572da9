"""Which model serves, and what is reported when it is not the first."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from pydantic import SecretStr
from support.servers.scripted import Reply, ScriptedModel, dead_endpoint

from stet_ls.engine.api.events import Notice, Progress
from stet_ls.engine.api.message import Message
from stet_ls.engine.errors import EndpointError, Fault, NoModelError
from stet_ls.engine.model import discover
from stet_ls.engine.model.chat import Sampling, Usage
from stet_ls.engine.model.endpoint.sse import EventReader
from stet_ls.engine.model.endpoint.stream_reader import StreamReader
from stet_ls.engine.model.local_server_consent import ServerConsents
from stet_ls.engine.model.pool import ModelPool
from stet_ls.engine.settings.schema import LogSettings, ModelSettings, Settings
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


@pytest.fixture
def nobody(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine on whose usual ports no program listens."""
    with dead_endpoint() as base_url:
        port = int(base_url.split(":")[2].removesuffix("/v1"))
        for name in discover.PORTS:
            monkeypatch.setitem(discover.PORTS, name, port)
        yield


@pytest.fixture
def found(scripted: ScriptedModel, nobody: None, paths: Paths, monkeypatch: pytest.MonkeyPatch) -> ScriptedModel:
    """The scripted server where LM Studio would be, allowed by its user."""
    monkeypatch.setitem(discover.PORTS, "lm-studio", scripted.port)
    allow(scripted, paths)
    return scripted


def allow(server: ScriptedModel, paths: Paths) -> None:
    """Says yes to a server, as `stet model allow` does."""
    consents = ServerConsents(paths.consents)
    consents.remember(consents.found("lm-studio", server.base_url), allowed=True)


async def test_a_dead_configured_endpoint_is_never_replaced(found: ScriptedModel, paths: Paths) -> None:
    with dead_endpoint() as base_url:
        models = ModelPool(Settings(providers=(Provider(name="STET_BASE_URL", base_url=base_url),)), paths)
        with pytest.raises(NoModelError, match=r"STET_BASE_URL .*connection refused"):
            await _ask(models)
        await models.close()
    assert found.requests == found.probes == []


async def test_without_providers_a_local_server_is_found(found: ScriptedModel, paths: Paths) -> None:
    models = ModelPool(Settings(), paths)
    found.models = ("nomic-embed-text", "qwen2.5-coder:7b")
    profile = await models.profile()
    completion = await _ask(models)
    assert profile.tier == "mid"
    assert (completion.endpoint, completion.model) == ("lm-studio", "qwen2.5-coder:7b")
    assert found.requests[0].body["model"] == "qwen2.5-coder:7b"
    assert len(found.probes) == 1
    await models.close()


@pytest.mark.parametrize(
    "listing", [Reply(mode="html"), Reply.failure(404), Reply(raw=b"[]"), Reply(raw=b'{"data":[]}'), Reply("", delay=9)]
)
@pytest.mark.usefixtures("hurried")
async def test_a_web_server_is_not_taken_for_a_model(listing: Reply, found: ScriptedModel, paths: Paths) -> None:
    found.listing = listing
    await _expect_no_model(Settings(model=ModelSettings(embedded="off")), paths, "lm-studio on port")
    assert found.requests == []


@pytest.mark.usefixtures("hurried")
async def test_a_silent_port_delays_nothing(found: ScriptedModel, paths: Paths) -> None:
    found.listing = Reply("never", first_delay=60)
    began = time.monotonic()
    await _expect_no_model(Settings(model=ModelSettings(embedded="off")), paths, "lm-studio on port")
    assert time.monotonic() - began < 30, "it is silent for a minute"


async def test_no_local_server_is_searched_if_the_user_disables_it(found: ScriptedModel, paths: Paths) -> None:
    await _expect_no_model(
        Settings(model=ModelSettings(discover=False, embedded="off")), paths, "`model.discover` is off"
    )
    assert found.probes == []


async def test_a_missing_model_is_reported_with_what_was_tried_and_what_helps(nobody: None, paths: Paths) -> None:
    settings = Settings(model=ModelSettings(embedded="off"))
    told = await _expect_no_model(settings, paths, "ollama on port .*llama.cpp on port .*lm-studio .*vllm .*disabled")
    assert told.endswith("or set STET_BASE_URL to an endpoint.")
    assert "\n" not in told


async def test_missing_weights_are_reported_with_the_download_command(nobody: None, paths: Paths) -> None:
    tiny = Settings(model=ModelSettings(embedded="tiny"))
    told = await _expect_no_model(tiny, paths, "ollama on port .*not downloaded.*`stet model pull tiny`")
    assert "\n" not in told
    models = ModelPool(tiny, paths)
    profile, health = await models.profile(), await models.health()
    assert (profile.tier, profile.context) == ("tiny", 8192)
    assert (health["status"], health["endpoint"], health["model"]) == (
        "absent",
        "embedded",
        "qwen2.5-coder-0.5b-instruct",
    )
    assert "stet model pull" in health["last_fault"]
    await models.close()


async def test_a_local_server_that_stopped_is_searched_again(paths: Paths, nobody: None, monkeypatch) -> None:
    models = ModelPool(Settings(model=ModelSettings(embedded="off")), paths)
    with ScriptedModel() as first:
        monkeypatch.setitem(discover.PORTS, "ollama", first.port)
        allow(first, paths)
        assert (await _ask(models)).endpoint == "ollama"
    with pytest.raises(NoModelError, match=r"ollama .*connection refused"):
        await _ask(models)
    with ScriptedModel() as other:
        monkeypatch.setitem(discover.PORTS, "vllm", other.port)
        allow(other, paths)
        assert (await _ask(models)).endpoint == "vllm"
        await models.close()


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
        request.getfixturevalue("hurried")
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
    told = [event for event in asker.events if isinstance(event, Progress)]
    assert told[:2] == [Progress(1, thinking=True), Progress(2, text="x ")], "at once"


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


LATE = """
import asyncio, sys, time
from stet_ls.engine.model.chat import Sampling
from stet_ls.engine.model.local_server_consent import ServerConsents
from stet_ls.engine.model.pool import ModelPool
from stet_ls.engine.api.message import Message
from stet_ls.engine.storage.paths import user_paths
from stet_ls.engine.settings.table_schemas import Provider; from stet_ls.engine.settings.schema import Settings

async def main():
    models = ModelPool(Settings(providers=(Provider(name="x", base_url=sys.argv[1], model="m"),)), user_paths())
    early = {"openai", "httpx2", "httpcore2", "truststore"} & set(sys.modules)
    assert not early, early
    longest, last = 0.0, time.perf_counter()

    async def tick():
        nonlocal longest, last
        while True:
            await asyncio.sleep(0.001)
            longest, last = max(longest, time.perf_counter() - last), time.perf_counter()

    ticking = asyncio.create_task(tick())
    began = time.perf_counter()
    await models.complete([Message("user", "hi")], sampling=Sampling(0.2, 50), deadline=100)
    took = time.perf_counter() - began
    ticking.cancel()
    await models.close()
    assert "openai" in sys.modules
    print(longest / took)

asyncio.run(main())
"""


def test_the_sdk_is_loaded_by_the_first_call_without_blocking(environment) -> None:
    """Its import takes most of the first call; the event loop must not stand still for half of that."""
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-c", LATE, environment["STET_BASE_URL"]],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "ResourceWarning" not in done.stderr
    assert float(done.stdout) < 0.5


LOOK = """
import asyncio, sys
from stet_ls.engine.model import health
from stet_ls.engine.model.local_server_consent import ServerConsents
from stet_ls.engine.model.pool import ModelPool
from stet_ls.engine.storage.paths import user_paths
from stet_ls.engine.settings.table_schemas import Provider; from stet_ls.engine.settings.schema import Settings

async def main():
    health._SECONDS = 60.0
    models = ModelPool(Settings(providers=(Provider(name="x", base_url=sys.argv[1], model="m"),)), user_paths())
    assert (await models.health())["status"] == "unreachable"
    await models.close()
    assert "openai" not in sys.modules

asyncio.run(main())
"""


def test_checking_a_dead_endpoint_does_not_wait_for_the_sdk(environment) -> None:
    """It would make every other endpoint that is looked at meanwhile seem silent."""
    with dead_endpoint() as base_url:
        done = subprocess.run([sys.executable, "-c", LOOK, base_url], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


async def _ask(models: ModelPool):
    return await models.complete([Message("user", "hi")], sampling=Sampling(0.2, 50), deadline=60)


async def _expect_no_model(settings: Settings, paths: Paths, says: str) -> str:
    models = ModelPool(settings, paths)
    with pytest.raises(NoModelError, match=says) as raised:
        await _ask(models)
    await models.close()
    return str(raised.value)


def test_the_environment_of_a_child_has_only_the_configured_endpoint(environment) -> None:
    ours = {name for name in environment if name.startswith(("STET_", "OPENAI_"))}
    endpoint = {"STET_BASE_URL", "STET_MODEL", "STET_API_KEY"}
    assert ours == {"STET_HOME", *endpoint, "STET_MEMORY_ENABLED", "STET_MODEL_CACHE", "STET_CHECKS_REVIEW"}
    assert os.environ["STET_HOME"] == environment["STET_HOME"]

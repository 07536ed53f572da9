"""Model servers that are found on this machine, where none is configured; and what is said if there is none."""

from __future__ import annotations

import time

import pytest
from support.servers.scripted import Reply, ScriptedModel, dead_endpoint

from stet_ls.engine.api.message import Message
from stet_ls.engine.errors import NoModelError
from stet_ls.engine.model import discover
from stet_ls.engine.model.chat import Sampling
from stet_ls.engine.model.local_server_consent import ServerConsents
from stet_ls.engine.model.pool import ModelPool
from stet_ls.engine.settings.schema import ModelSettings, Settings
from stet_ls.engine.settings.table_schemas import Provider
from stet_ls.engine.storage.paths import Paths


@pytest.fixture
def found(scripted: ScriptedModel, no_listeners: None, paths: Paths, monkeypatch: pytest.MonkeyPatch) -> ScriptedModel:
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
@pytest.mark.usefixtures("short_time_limits")
async def test_a_web_server_is_not_taken_for_a_model(listing: Reply, found: ScriptedModel, paths: Paths) -> None:
    found.listing = listing
    await _expect_no_model(Settings(model=ModelSettings(embedded="off")), paths, "lm-studio on port")
    assert found.requests == []


@pytest.mark.usefixtures("short_time_limits")
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


async def test_a_missing_model_is_reported_with_what_was_tried_and_what_helps(no_listeners: None, paths: Paths) -> None:
    settings = Settings(model=ModelSettings(embedded="off"))
    message = await _expect_no_model(
        settings, paths, "ollama on port .*llama.cpp on port .*lm-studio .*vllm .*disabled"
    )
    assert message.endswith("or set STET_BASE_URL to an endpoint.")
    assert "\n" not in message


async def test_missing_weights_are_reported_with_the_download_command(no_listeners: None, paths: Paths) -> None:
    tiny = Settings(model=ModelSettings(embedded="tiny"))
    message = await _expect_no_model(tiny, paths, "ollama on port .*not downloaded.*`stet model pull tiny`")
    assert "\n" not in message
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


async def test_a_local_server_that_stopped_is_searched_again(paths: Paths, no_listeners: None, monkeypatch) -> None:
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


async def _ask(models: ModelPool):
    return await models.complete([Message("user", "hi")], sampling=Sampling(0.2, 50), deadline=60)


async def _expect_no_model(settings: Settings, paths: Paths, says: str) -> str:
    models = ModelPool(settings, paths)
    with pytest.raises(NoModelError, match=says) as raised:
        await _ask(models)
    await models.close()
    return str(raised.value)

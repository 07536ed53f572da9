"""A pool of models on the scripted server, closed when the test is over."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from support.servers.scripted import ScriptedModel, dead_endpoint

from stet_ls.engine.api.events import Event
from stet_ls.engine.api.message import Message
from stet_ls.engine.model import discover, failover, health
from stet_ls.engine.model.chat import Completion, Sampling
from stet_ls.engine.model.pool import ModelPool
from stet_ls.engine.settings.schema import ModelSettings, Settings
from stet_ls.engine.settings.table_schemas import Provider
from stet_ls.engine.storage.paths import Paths, user_paths

PROMPT = (Message("system", "You write code."), Message("user", "Add two numbers."))


HASTE = {"timeout_first_token": 1.5, "timeout_token": 1.5}
"""For providers that must be found silent, in seconds. Those that answer may take what a busy machine takes."""


@pytest.fixture(autouse=True)
def long_time_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short looks, at what is here and well, have the time that a busy machine takes."""
    monkeypatch.setattr(failover, "_LOOK_SECONDS", 60.0)
    monkeypatch.setattr(health, "_SECONDS", 60.0)
    monkeypatch.setattr(discover, "_SECONDS", 60.0)


@pytest.fixture
def short_time_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """They give up soon, for tests of silence."""
    monkeypatch.setattr(health, "_SECONDS", 0.8)
    monkeypatch.setattr(discover, "_SECONDS", 0.5)


@pytest.fixture
def no_listeners(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine on whose usual ports no program listens."""
    with dead_endpoint() as base_url:
        port = int(base_url.split(":")[2].removesuffix("/v1"))
        for name in discover.PORTS:
            monkeypatch.setitem(discover.PORTS, name, port)
        yield


class Asker:
    """A pool with what it told on its way."""

    def __init__(self, models: ModelPool) -> None:
        self.models = models
        self.events: list[Event] = []

    async def ask(
        self, messages: Sequence[Message] = PROMPT, *, deadline: float = 60.0, max_tokens: int = 400
    ) -> Completion:
        return await self.models.complete(
            messages, sampling=Sampling(0.2, max_tokens), deadline=deadline, on_event=self.events.append
        )


@pytest.fixture
def paths(stet_home: Path) -> Paths:
    return user_paths()


@pytest.fixture
def provider(scripted: ScriptedModel) -> Provider:
    """The scripted server as a provider with long timeouts."""
    return Provider(
        name="scripted", base_url=scripted.base_url, model="scripted-7b", timeout_first_token=60.0, timeout_token=60.0
    )


@pytest.fixture
def hasty(provider: Provider) -> Provider:
    """The same with short timeouts."""
    return provider.model_copy(update=HASTE)


@pytest.fixture
async def pool(paths: Paths) -> AsyncIterator[Callable[..., Asker]]:
    """Makes pools of the given providers; none of them looks around on this machine. `model` is the settings' table."""
    made: list[ModelPool] = []

    def make(*providers: Provider, model: Mapping[str, object] | None = None) -> Asker:
        alone = ModelSettings.model_validate({"discover": False, "embedded": "off", **(model or {})})
        models = ModelPool(Settings(providers=providers, model=alone), paths)
        made.append(models)
        return Asker(models)

    yield make
    for models in made:
        await models.close()


@pytest.fixture
def asker(pool: Callable[..., Asker], provider: Provider) -> Asker:
    """A pool whose only provider is the scripted server."""
    return pool(provider)

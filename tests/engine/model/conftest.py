"""A pool of models on the scripted server, closed when the test is over."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path

import pytest
from support.scripted import ScriptedModel

from stet_ls.engine.events import Event
from stet_ls.engine.model.chat import Completion, Sampling
from stet_ls.engine.model.pool import Models
from stet_ls.engine.models import Message
from stet_ls.engine.paths import Paths, user_paths
from stet_ls.engine.settings import ModelSettings, Provider, Settings

PROMPT = (Message("system", "You write code."), Message("user", "Add two numbers."))


class Asker:
    """A pool with what it told on its way."""

    def __init__(self, models: Models) -> None:
        self.models = models
        self.events: list[Event] = []

    async def ask(
        self, messages: Sequence[Message] = PROMPT, *, deadline: float = 10.0, max_tokens: int = 400
    ) -> Completion:
        return await self.models.complete(
            messages, sampling=Sampling(0.2, max_tokens), deadline=deadline, on_event=self.events.append
        )


@pytest.fixture
def paths(stet_home: Path) -> Paths:
    return user_paths()


@pytest.fixture
def provider(scripted: ScriptedModel) -> Provider:
    """The scripted server as a provider with short patience."""
    return Provider(
        name="scripted", base_url=scripted.base_url, model="scripted-7b", timeout_first_token=0.5, timeout_token=0.5
    )


@pytest.fixture
async def pool(paths: Paths) -> AsyncIterator[Callable[..., Asker]]:
    """Makes pools of the given providers; none of them looks around on this machine. `model` is the settings' table."""
    made: list[Models] = []

    def make(*providers: Provider, model: Mapping[str, object] | None = None) -> Asker:
        alone = ModelSettings.model_validate({"discover": False, "embedded": "off", **(model or {})})
        models = Models(Settings(providers=providers, model=alone), paths)
        made.append(models)
        return Asker(models)

    yield make
    for models in made:
        await models.close()


@pytest.fixture
def asker(pool: Callable[..., Asker], provider: Provider) -> Asker:
    """A pool whose only provider is the scripted server."""
    return pool(provider)

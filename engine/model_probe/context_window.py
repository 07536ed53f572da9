"""How much a model reads at once: what its server reports, and whether it reads a long prompt completely."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from stet_ls.engine.api.message import Message
from stet_ls.engine.model.chat import Completion
from stet_ls.engine.model.endpoint.connection import ListedModel, is_loopback
from stet_ls.engine.model.endpoint.endpoint_client import EndpointClient
from stet_ls.engine.model.endpoint.faults import EndpointFailure
from stet_ls.engine.model.profiles.profiles import Profile
from stet_ls.engine.model.profiles.token_calibration import TokenCalibration
from stet_ls.engine.model_probe.tasks import SECRET_WORD, long_prompt
from stet_ls.engine.prompt.tokens import estimate

_SECONDS = 5.0
_MOST_TOKENS = 9_000
"""As long as the longest prompts of jobs, with room for a model that counts more tokens than we estimate."""

_SHARE = 0.8
"""Of the reported context: the rest is for the reply and for errors of the estimate."""


async def listed(client: EndpointClient) -> ListedModel:
    """What the server reports of the model: in its list of models, or on the pages that llama.cpp and Ollama have."""
    model = await client.model()
    if isinstance(model, EndpointFailure):
        return ListedModel("")
    rows = await client.connection.listed(seconds=_SECONDS)
    row = (
        next((row for row in rows if row.name == model.name), model) if not isinstance(rows, EndpointFailure) else model
    )
    if row.context or not is_loopback(client.provider.base_url):
        return row
    for path, read in (("/props", _of_llama), ("/api/ps", _of_ollama)):
        body = await client.connection.page(path, seconds=_SECONDS)
        if isinstance(body, Mapping) and (size := next(read(body, model.name), 0)):
            return ListedModel(row.name, size, row.max_output)
    return row


def long_messages(context: int, profile: Profile) -> tuple[tuple[Message, ...], int]:
    """A prompt that nearly fills the context, and its size by our estimate."""
    line = estimate(long_prompt(20)) / 20
    tokens = min(_MOST_TOKENS, _SHARE * context / max(1.0, profile.token_factor))
    text = long_prompt(max(1, int(tokens / line)))
    return (Message("user", text),), estimate(text)


def read_by(
    completion: Completion, estimated: int, correction: TokenCalibration
) -> tuple[int, Literal["measured", "cut"]] | None:
    """The result of a long prompt: (0, "measured") if it was read whole, the tokens that were read if it was cut."""
    counted = completion.usage.prompt_tokens if completion.usage else 0
    if counted and correction.was_cut(estimated, counted):
        return counted, "cut"
    if counted or SECRET_WORD in completion.text:
        return 0, "measured"
    return None


def _of_llama(body: Mapping[str, Any], model: str) -> Iterator[int]:
    defaults = body.get("default_generation_settings")
    for place in (defaults if isinstance(defaults, Mapping) else {}, body):
        if isinstance(size := place.get("n_ctx"), int):
            yield size


def _of_ollama(body: Mapping[str, Any], model: str) -> Iterator[int]:
    models = body.get("models")
    for row in models if isinstance(models, list) else ():
        named = isinstance(row, Mapping) and model in (row.get("name"), row.get("model"))
        if named and isinstance(size := row.get("context_length"), int):
            yield size

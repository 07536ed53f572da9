"""Looks for model servers on this machine, if none is configured."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from stet_ls.engine.model.endpoint.connection import Connection
from stet_ls.engine.model.endpoint.faults import EndpointFailure
from stet_ls.engine.model.profiles.profiles import is_chat_model
from stet_ls.engine.settings.table_schemas import Provider

PORTS: Mapping[str, int] = {"ollama": 11434, "llama.cpp": 8080, "lm-studio": 1234, "vllm": 8000}
"""Servers in order of preference, with their default ports."""

_SECONDS = 0.5
"""A server on this machine lists its models at once; a web server that is not one may take its time."""

_OLLAMA_CONTEXT = 4096
"""Ollama's default, whatever the model supports; our requests cannot change it."""


async def discover() -> tuple[list[Provider], list[str]]:
    """The servers with a chat model, and each port without one in words. Never raises; at most half a second."""
    answers = await asyncio.gather(*(_listed(name, port) for name, port in PORTS.items()))
    silent = [
        f"{name} on port {port}" for (name, port), answer in zip(PORTS.items(), answers, strict=True) if answer is None
    ]
    return [answer for answer in answers if answer is not None], silent


async def _listed(name: str, port: int) -> Provider | None:
    provider = Provider(name=name, base_url=f"http://127.0.0.1:{port}/v1")
    connection = Connection(provider)
    try:
        models = await connection.listed(seconds=_SECONDS)
    finally:
        await connection.close()
    chat = None if isinstance(models, EndpointFailure) else next((m for m in models if is_chat_model(m.name)), None)
    if chat is None:
        return None
    context = chat.context or (_OLLAMA_CONTEXT if name == "ollama" else 0)
    return provider.model_copy(update={"model": chat.name, "context": context})

"""The commands of the memory. None blocks other messages: the memory is a separate process."""

from __future__ import annotations

from typing import Any

from stet_ls.engine.errors import UsageError
from stet_ls.server.session import StetServer

Json = dict[str, Any]


async def search(ls: StetServer, params: Any) -> Json:
    """Remembered solutions that match, the best first. `available` is false if there is no memory."""
    memory = (await ls.engine.get()).engine.memory
    if memory.memory.obstacle():
        return {"solutions": [], "available": False}
    languages = [params.language] if params.language else None
    found = await memory.search(params.query, languages=languages, limit=params.limit)
    return {"solutions": found, "available": True}


async def stats(ls: StetServer, params: Any) -> Json:
    """The size and the state of the memory."""
    memory = (await ls.engine.get()).engine.memory
    if obstacle := memory.memory.obstacle():
        nothing = {"solutions": 0, "dimension": None, "embedder": None, "bytes": 0, "uri": None}
        return {**nothing, "available": False, "detail": obstacle}
    return {**await memory.stats(), "available": True, "use": dict(memory.health())}


async def forget(ls: StetServer, params: Any) -> Json:
    """Removes a solution from every file of the memory."""
    memory = (await ls.engine.get()).engine.memory
    if memory.memory.obstacle() or not await memory.forget([params.id]):
        raise UsageError(f"id: unknown solution {params.id!r}.")
    return {"forgotten": params.id}

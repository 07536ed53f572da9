"""The models to choose from, for plugins: servers on this machine, and embedded models to download."""

from __future__ import annotations

import asyncio
import os
from typing import Any

from stet_ls.engine.errors import UsageError
from stet_ls.server.session import StetServer

Json = dict[str, Any]


async def models(ls: StetServer, params: Any) -> Json:
    """`{servers: [{name, url, model}], embedded: [{name, model, megabytes, needs, installed}]}`, in half a second.

    The default comes first, the others from the smallest to the largest.
    """
    from stet_ls.engine.model.discover import discover
    from stet_ls.engine.model.embedded.weights import DEFAULT, installed, known

    found, _ = await discover()
    known_here = await asyncio.to_thread(known, ls.paths)
    here = await asyncio.to_thread(lambda: {name: installed(ls.paths, name) is not None for name in known_here})
    return {
        "servers": [{"name": each.name, "url": each.base_url, "model": each.model} for each in found],
        "embedded": [
            {
                "name": name,
                "model": each.title,
                "megabytes": each.megabytes,
                "needs": each.needs,
                "installed": here[name],
            }
            for name, each in sorted(known_here.items(), key=lambda row: row[0] != DEFAULT)
        ],
    }


async def setup(ls: StetServer, params: Any) -> Json:
    """Chooses the model of the argument, or asks. `chosen` is what Stet uses now, in a sentence; null if nothing."""
    choose = ls.consent.model_setup
    if params.forget:
        message = await choose.forget()
    elif params.embedded is not None:
        message = await choose.embedded(params.embedded)
    elif params.url is not None:
        if not params.model:
            raise UsageError("model: name the endpoint's model.")
        message = await choose.endpoint(params.url, params.model, params.key)
    else:
        message = await choose.ask()
        if message:
            ls.log(message)
    overrides = " The variable STET_BASE_URL overrides that." if message and "STET_BASE_URL" in os.environ else ""
    return {"chosen": message + overrides or None}


async def download(ls: StetServer, params: Any) -> Json:
    """Downloads an embedded model, with progress that can be cancelled; `installed` says whether it is here then."""
    from stet_ls.engine.model.embedded.weights import WEIGHTS

    if params.name not in WEIGHTS:
        raise UsageError(f"name: unknown model {params.name!r}; it is one of {', '.join(WEIGHTS)}.")
    return {"installed": await ls.consent.model_download.fetch(params.name)}

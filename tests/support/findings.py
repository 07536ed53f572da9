"""A client and the real server in one process, and what a test asks of the diagnostics between the two."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from logging.handlers import RotatingFileHandler
from typing import Any

from support.servers.inprocess import connected
from support.servers.session import introduction
from support.servers.wire import TIMEOUT, Json, RawClient

from stet_ls.server.app import create_server

PUBLISH = "textDocument/publishDiagnostics"
REFRESH = "workspace/diagnostic/refresh"

URI = "file:///w/a.py"


@asynccontextmanager
async def editing(name: str, *, settings: Json | None = None, **params: Any) -> AsyncIterator[RawClient]:
    """A client with the capabilities of that editor. `settings` are what it answers when it is asked for them."""
    try:
        async with connected(create_server()) as client:
            if settings is not None:
                client.answers["workspace/configuration"] = lambda asked: [settings] * len(asked["items"])
            await client.initialize(**{**introduction(name), **params})
            yield client
    finally:
        root = logging.getLogger("stet_ls")
        for handler in [each for each in root.handlers if isinstance(each, RotatingFileHandler)]:
            root.removeHandler(handler)
            handler.close()


async def pull(client: RawClient, uri: str = URI, previous: str | None = None) -> Json:
    """The report on a document."""
    params: Json = {"textDocument": {"uri": uri}}
    if previous is not None:
        params["previousResultId"] = previous
    report = await client.request("textDocument/diagnostic", params)
    assert isinstance(report, dict)
    return report


async def worded(client: RawClient, part: str, uri: str = URI) -> Json:
    """The report on a document, once a message in it holds these words: the first look may have no time for words."""
    async with asyncio.timeout(TIMEOUT):
        while not saying(part)(report := await pull(client, uri)):
            await asyncio.sleep(0.05)
    return report


async def pushed(
    client: RawClient, wanted: Callable[[Json], bool] = lambda _: True, *, uri: str = URI, since: int = 0
) -> Json:
    """The first push for a document that is as wanted."""

    def fits(message: Json) -> bool:
        params = message.get("params") or {}
        return message.get("method") == PUBLISH and params["uri"] == uri and wanted(params)

    message = await client.wait_for(fits, since=since)
    params = message["params"]
    assert isinstance(params, dict)
    return params


def messages(report: Json) -> list[str]:
    """What the diagnostics of a push or of a full report say, in their order."""
    return [each["message"] for each in report.get("items", report.get("diagnostics", []))]


def saying(part: str) -> Callable[[Json], bool]:
    """Wanted: a push, or a report, in which a message holds these words."""
    return lambda params: any(part in message for message in messages(params))


def empty(params: Json) -> bool:
    """Wanted: a push that takes everything away."""
    return not params["diagnostics"]

"""A client and a server in one process, joined by queues instead of pipes: the same messages, without the start.

For what a server says; how it starts, ends and guards its streams is tested on real processes.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any, cast

from pygls.lsp.server import LanguageServer
from support.servers.channel import Channel
from support.servers.wire import Json, RawClient

from stet_ls.server.lsp.main_loop import run_messages
from stet_ls.server.lsp.protocol import Protocol


@contextlib.asynccontextmanager
async def connected(server: LanguageServer) -> AsyncIterator[RawClient]:
    """A client of `server`, which runs until the block is left."""
    to_server: asyncio.Queue[str | None] = asyncio.Queue()
    to_client: asyncio.Queue[str | None] = asyncio.Queue()
    protocol = cast(Protocol, server.protocol)
    protocol.set_writer(cast(Any, _Writer(to_client)), include_headers=False)

    async def serve() -> None:
        await run_messages(protocol, to_server.get)
        to_client.put_nowait(None)

    serving = asyncio.create_task(serve())
    try:
        async with RawClient.over(_QueueChannel(to_client, to_server)) as client:
            yield client
    finally:
        await serving


class _Writer:
    def __init__(self, queue: asyncio.Queue[str | None]) -> None:
        self._queue = queue

    def write(self, data: bytes) -> None:
        self._queue.put_nowait(data.decode())


class _QueueChannel(Channel):
    def __init__(self, incoming: asyncio.Queue[str | None], outgoing: asyncio.Queue[str | None]) -> None:
        self._incoming = incoming
        self._outgoing = outgoing

    async def receive(self) -> Json | None:
        text = await self._incoming.get()
        return None if text is None else cast(Json, json.loads(text))

    def send_body(self, body: str) -> None:
        self._outgoing.put_nowait(body)

    async def close(self) -> None:
        self._outgoing.put_nowait(None)

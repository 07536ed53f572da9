"""pygls as it comes, in this process, and a client that talks to it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import AsyncIterator
from typing import Any, cast

import pygls.io_
import pygls.server
from pygls.lsp.server import LanguageServer
from support.servers.channel import Channel, frame
from support.servers.probe_server import stock
from support.servers.wire import Json, RawClient


class StockChannel(Channel):
    """Feeds pygls' own loop, and is its writer."""

    def __init__(self) -> None:
        self.reader = asyncio.StreamReader()
        self.sent: asyncio.Queue[str] = asyncio.Queue()

    def write(self, data: bytes) -> None:
        self.sent.put_nowait(data.decode())

    async def receive(self) -> Json | None:
        return cast(Json, json.loads(await self.sent.get()))

    def send_body(self, body: str) -> None:
        self.reader.feed_data(frame(body))

    async def close(self) -> None:
        self.reader.feed_eof()


@contextlib.asynccontextmanager
async def connected(server: LanguageServer | None = None) -> AsyncIterator[RawClient]:
    """A client of pygls as it comes; what it leaves unanswered is no failure here."""
    server = server or stock()
    channel = StockChannel()
    server.protocol.set_writer(cast(Any, channel), include_headers=False)
    before = asyncio.all_tasks()
    loop = pygls.io_.run_async(
        threading.Event(), channel.reader, server.protocol, error_handler=server.report_server_error
    )
    running = asyncio.create_task(loop)
    async with RawClient.over(channel) as client:
        client.abandon()
        yield client
    await running
    leftover = asyncio.all_tasks() - before
    for task in leftover:
        task.cancel()
    await asyncio.gather(*leftover, return_exceptions=True)

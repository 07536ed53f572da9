"""A model server that remembers: it hands requests on to a real one and gives the same bytes the next time.

So a run of hours can be broken off and taken up again, variants of the engine see the same replies where they ask the
same, and a table can be made again without a model. What was asked is known by its content; the random names of
fences in it do not count. The n-th time that one (case, variant) asks the same, it gets the n-th reply, each piece of
it after the seconds that the model took: deadlines, measured speeds and replies that the engine cuts off mean the same
in every variant. Each seed has replies of its own.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import re
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx2

_FENCE = re.compile(r"data-[0-9a-f]{4,}")
_HEAD_LIMIT = 64 * 1024


class Recorder:
    """Serves `base_url` on loopback while it is open. `upstream` is None for a run from recorded replies alone.

    `paced`: a recorded reply comes as fast as the model wrote it.
    """

    def __init__(self, folder: Path, upstream: str | None, key: str = "unused", *, paced: bool = True) -> None:
        self.base_url = ""
        self.model_seconds = 0.0
        self._folder = folder
        self._upstream = upstream
        self._key = key
        self._asked: Counter[str] = Counter()
        self._paced = paced
        self._seed = 1

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Listens until the block ends."""
        async with httpx2.AsyncClient(timeout=600, headers={"Authorization": f"Bearer {self._key}"}) as self._client:
            server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
            self.base_url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
            async with server:
                yield

    def begin(self, seed: int = 1) -> None:
        """A new case or variant: the counts of what was asked start again, and so do the seconds."""
        self._seed = seed
        self._asked.clear()
        self.model_seconds = 0.0

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            length = re.search(r"(?im)^content-length: *(\d+)", head)
            body = await reader.readexactly(int(length[1])) if length else b""
            method, path, _ = head.split(" ", 2)
            started = time.perf_counter()
            reply = asyncio.ensure_future(self._reply(method, path.removeprefix("/v1"), body, writer))
            hung_up = asyncio.ensure_future(reader.read())
            await asyncio.wait((reply, hung_up), return_when=asyncio.FIRST_COMPLETED)
            if not reply.done():  # the engine has read enough; what the model was cut off in is not recorded
                reply.cancel()
                await asyncio.wait((reply,))
                self.model_seconds += time.perf_counter() - started
            hung_up.cancel()
            if not reply.cancelled():
                reply.result()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _reply(self, method: str, path: str, body: bytes, writer: asyncio.StreamWriter) -> None:
        """Answers one request, piece by piece as the model does or did."""
        drawn = "" if self._seed == 1 else f" {self._seed}"
        known = _FENCE.sub("data-", f"{method} {path} {_canonical(body)}{drawn}")
        key = hashlib.sha256(known.encode()).hexdigest()
        file = self._folder / key[:2] / f"{key}-{self._asked[key]}.json"
        self._asked[key] += 1
        if file.exists():
            reply = _Reply.read(file)
            await self._play(reply, writer)
        elif self._upstream is None:
            reply = _Reply(599, pieces=[(0.0, b'{"error": {"message": "this reply was not recorded"}}')])
            await self._play(reply, writer)
        else:
            reply = await self._record(method, self._upstream + path, body, writer)
            if reply.status == 200:  # a fault is not an answer: the next run asks again
                reply.write(file)
        self.model_seconds += reply.seconds

    async def _play(self, reply: _Reply, writer: asyncio.StreamWriter) -> None:
        started = time.perf_counter()
        writer.write(reply.head)
        for second, piece in reply.pieces:
            if self._paced:
                await asyncio.sleep(max(0.0, second - (time.perf_counter() - started)))
            writer.write(piece)
            await writer.drain()

    async def _record(self, method: str, address: str, body: bytes, writer: asyncio.StreamWriter) -> _Reply:
        started = time.perf_counter()
        headers = {"Content-Type": "application/json"}
        try:
            async with self._client.stream(method, address, content=body, headers=headers) as response:
                reply = _Reply(response.status_code, response.headers.get("content-type", ""))
                writer.write(reply.head)
                async for piece in response.aiter_bytes():
                    reply.pieces.append((time.perf_counter() - started, piece))
                    writer.write(piece)
                    await writer.drain()
        except httpx2.HTTPError as error:
            reply = _Reply(502, pieces=[(0.0, json.dumps({"error": {"message": str(error)}}).encode())])
            await self._play(reply, writer)
        return reply


@dataclass(frozen=True, slots=True)
class _Reply:
    """What came back, in pieces with the seconds after the request."""

    status: int
    type: str = "application/json"
    pieces: list[tuple[float, bytes]] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        return self.pieces[-1][0] if self.pieces else 0.0

    @property
    def head(self) -> bytes:
        """The body ends where the connection does."""
        return f"HTTP/1.1 {self.status} Recorded\r\nContent-Type: {self.type}\r\nConnection: close\r\n\r\n".encode()

    @classmethod
    def read(cls, file: Path) -> _Reply:
        kept = json.loads(file.read_text("utf-8"))
        return cls(kept["status"], kept["type"], [(second, base64.b64decode(text)) for second, text in kept["pieces"]])

    def write(self, file: Path) -> None:
        """Whole or not at all."""
        pieces = [(round(second, 3), base64.b64encode(piece).decode()) for second, piece in self.pieces]
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(".part")
        part.write_text(json.dumps({"status": self.status, "type": self.type, "pieces": pieces}), "utf-8")
        part.rename(file)


def _canonical(body: bytes) -> str:
    return json.dumps(json.loads(body), sort_keys=True) if body else ""

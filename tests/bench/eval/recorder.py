"""A model server that remembers: it hands requests on to a real one and gives the same bytes the next time.

So a run of hours can be broken off and taken up again, variants of the engine see the same replies where they ask the
same, and a table can be made again without a model. What was asked is known by its content; the random names of
fences in it do not count. The n-th time that one (case, variant) asks the same, it gets the n-th reply, after the
seconds that the model took for it: deadlines mean the same in every variant. Each seed has replies of its own.
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
from pathlib import Path
from typing import Any

import httpx2

_FENCE = re.compile(r"data-[0-9a-f]{4,}")
_HEAD_LIMIT = 64 * 1024


class Recorder:
    """Serves `base_url` on loopback while it is open. `upstream` is None for a run from recorded replies alone.

    `paced`: a recorded reply takes as long as it took the model.
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
            record = await self._answer(method, path.removeprefix("/v1"), body)
            self.model_seconds += record["seconds"]
            data = base64.b64decode(record["body"])
            writer.write(
                f"HTTP/1.1 {record['status']} Recorded\r\nContent-Type: {record['type']}\r\n"
                f"Content-Length: {len(data)}\r\nConnection: close\r\n\r\n".encode()
                + data
            )
            await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _answer(self, method: str, path: str, body: bytes) -> dict[str, Any]:
        drawn = "" if self._seed == 1 else f" {self._seed}"
        known = _FENCE.sub("data-", f"{method} {path} {_canonical(body)}{drawn}")
        key = hashlib.sha256(known.encode()).hexdigest()
        file = self._folder / key[:2] / f"{key}-{self._asked[key]}.json"
        self._asked[key] += 1
        if file.exists():
            record = dict(json.loads(file.read_text("utf-8")))
            if self._paced:
                await asyncio.sleep(record["seconds"])
            return record
        if self._upstream is None:
            return _made(599, b'{"error": {"message": "this reply was not recorded"}}')
        started = time.perf_counter()
        try:
            reply = await self._client.request(
                method, self._upstream + path, content=body, headers={"Content-Type": "application/json"}
            )
        except httpx2.HTTPError as error:
            return _made(502, json.dumps({"error": {"message": str(error)}}).encode())
        record = _made(reply.status_code, reply.content, reply.headers.get("content-type", ""))
        record["seconds"] = time.perf_counter() - started
        if reply.status_code == 200:  # a fault is not an answer: the next run asks again
            file.parent.mkdir(parents=True, exist_ok=True)
            part = file.with_suffix(".part")
            part.write_text(json.dumps(record), "utf-8")
            part.rename(file)
        return record


def _made(status: int, body: bytes, kind: str = "application/json") -> dict[str, Any]:
    return {"status": status, "type": kind, "body": base64.b64encode(body).decode(), "seconds": 0.0}


def _canonical(body: bytes) -> str:
    return json.dumps(json.loads(body), sort_keys=True) if body else ""

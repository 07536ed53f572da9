"""The scripted model on the wire: a request as it arrived, and one reply on its way, accidents included."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from support.servers.scripted_reply import HTML, Body, Reply


@dataclass(frozen=True)
class Recorded:
    """One request as it arrived; `at` is `time.monotonic()`, header names are lower case."""

    path: str
    headers: Mapping[str, str]
    body: Body
    at: float

    @property
    def prompt(self) -> str:
        """The contents of all messages, one after the other."""
        return "\n".join(str(message.get("content") or "") for message in self.body.get("messages", ()))


class ClientLeftError(Exception):
    """The client closed the connection before it had the whole reply."""


class ConnectionDroppedError(Exception):
    """The script told us to reset the connection."""


class ScriptedProtocol(asyncio.StreamReaderProtocol):
    """A stream protocol that also knows at once when the other side has gone."""

    def __init__(self, connected: Callable[[asyncio.StreamReader, asyncio.StreamWriter], None]) -> None:
        super().__init__(asyncio.StreamReader(), connected)
        self.gone = asyncio.Event()

    def eof_received(self) -> bool | None:
        self.gone.set()
        return super().eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        self.gone.set()
        super().connection_lost(exc)


class Wire:
    """Writes HTTP/1.1 responses to one connection, and raises as soon as the client has left."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        protocol = writer.transport.get_protocol()
        assert isinstance(protocol, ScriptedProtocol)
        self._gone = protocol.gone

    async def pause(self, seconds: float | None) -> None:
        """Wait that long (None: for ever) while the client stays."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._gone.wait(), seconds)
            raise ClientLeftError

    async def hold(self, event: threading.Event) -> None:
        """Wait for an event of another thread while the client stays."""
        while not event.is_set():
            await self.pause(0.005)

    async def whole(self, status: int, kind: str, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        """A response whose length is known."""
        await self._write(_head(status, {"Content-Type": kind, "Content-Length": str(len(body)), **(headers or {})}))
        await self._write(body)

    async def begin(self, status: int, kind: str, headers: Mapping[str, str]) -> None:
        """The head of a response that comes in pieces."""
        await self._write(_head(status, {"Content-Type": kind, "Transfer-Encoding": "chunked", **headers}))

    async def piece(self, data: bytes) -> None:
        """One piece of such a response."""
        await self._write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    async def end(self) -> None:
        """The end of such a response."""
        await self._write(b"0\r\n\r\n")

    def reset(self) -> None:
        """Close the connection with a TCP reset."""
        sock = self._writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()
        raise ConnectionDroppedError

    async def _write(self, data: bytes) -> None:
        if self._gone.is_set():
            raise ClientLeftError
        try:
            self._writer.write(data)
            await self._writer.drain()
        except ConnectionError as error:
            raise ClientLeftError from error


@dataclass(frozen=True)
class Exchange:
    """One reply on its way to one client."""

    reply: Reply
    request: Body
    model: str
    wire: Wire
    claimed: list[int]

    async def run(self) -> None:
        reply, wire = self.reply, self.wire
        kind, whole = self._whole()
        if not reply.head_first:
            await self._wait_first()
        if whole is not None:
            await wire.whole(reply.status, kind, whole, reply.headers)
            return
        await wire.begin(reply.status, kind, reply.headers)
        if reply.head_first:
            await self._wait_first()
        async for data in self._events():
            await wire.piece(data)
        await wire.end()

    async def _wait_first(self) -> None:
        if self.reply.first_delay:
            await self.wire.pause(self.reply.first_delay)
        if self.reply.hold is not None and self.reply.hold_at == 0:
            await self.wire.hold(self.reply.hold)

    def _whole(self) -> tuple[str, bytes | None]:
        """Content type and body, or None for the body where it is streamed."""
        reply = self.reply
        if isinstance(reply.raw, bytes):
            return ("text/event-stream" if reply.mode == "stream" else "application/json"), reply.raw
        if reply.mode == "html":
            return "text/html", (reply.text or HTML).encode()
        if reply.mode == "error":
            return "application/json", json.dumps({"error": reply.error}).encode()
        if reply.raw is None and (reply.mode in ("json", "cut_json") or not self.request.get("stream")):
            body = json.dumps(self._completion()).encode()
            return "application/json", body[: len(body) // 2] if reply.mode == "cut_json" else body
        return "text/event-stream", None

    async def _events(self) -> AsyncIterator[bytes]:
        """The stream, piece by piece, with the script's accidents in it."""
        reply = self.reply
        if reply.raw is not None:
            assert not isinstance(reply.raw, bytes), "sent as a whole"
            for data in reply.raw:
                yield data
                await self.wire.pause(reply.delay)
            return
        yield self._event({"role": "assistant", "content": None if reply.reasoning else ""})
        if reply.reasoning:
            yield self._event({"content": None, "reasoning_content": reply.reasoning})
        async for text in self._texts():
            yield self._event({"content": text})
        if reply.mode == "malformed":
            yield b'data: {"id": "chatcmpl-1", "choices": [{"del\n\n'
        if reply.mode == "error_event":
            yield _sse({"error": reply.error or {"message": "the engine died", "type": "server_error", "code": None}})
            return
        if reply.finish is not None:
            yield self._event({}, finish=reply.finish)
        if reply.usage and (self.request.get("stream_options") or {}).get("include_usage"):
            yield _sse({**self._frame("chat.completion.chunk"), "choices": [], "usage": self._usage()})
        if not reply.no_done:
            yield b"data: [DONE]\n\n"

    async def _texts(self) -> AsyncIterator[str]:
        reply, sent = self.reply, 0
        pieces = reply.pieces()
        while True:
            for text in pieces:
                await self._accident(sent)
                if sent and reply.delay:
                    await self.wire.pause(reply.delay)
                yield text
                sent += 1
            if reply.mode != "endless":
                break
        await self._accident(sent)

    async def _accident(self, sent: int) -> None:
        """What the script wants to happen after `sent` chunks."""
        reply = self.reply
        if reply.hold is not None and reply.hold_at == sent:
            await self.wire.hold(reply.hold)
        if reply.drop_after == sent:
            self.wire.reset()
        if reply.stall_after == sent:
            await self.wire.pause(None)

    def _event(self, delta: Mapping[str, Any], finish: str | None = None) -> bytes:
        choices = [{"index": 0, "delta": delta, "finish_reason": finish}]
        frame = self._frame("chat.completion.chunk")
        return _sse({**frame, "choices": [] if self.reply.mode == "no_choices" else choices})

    def _completion(self) -> dict[str, Any]:
        reply = self.reply
        message: dict[str, Any] = {"role": "assistant", "content": "".join(reply.pieces())}
        if reply.reasoning:
            message |= {"content": message["content"] or None, "reasoning_content": reply.reasoning}
        choices = [{"index": 0, "message": message, "finish_reason": reply.finish}]
        frame = {**self._frame("chat.completion"), "choices": [] if reply.mode == "no_choices" else choices}
        return {**frame, "usage": self._usage()} if reply.usage else frame

    def _frame(self, kind: str) -> dict[str, Any]:
        return {"id": "chatcmpl-1", "object": kind, "created": 0, "model": self.request.get("model") or self.model}

    def _usage(self) -> dict[str, Any]:
        if isinstance(self.reply.usage, tuple):
            prompt, completion = self.reply.usage
        else:
            sent = "".join(str(message.get("content") or "") for message in self.request.get("messages", ()))
            prompt, completion = max(1, len(sent.encode()) // 4), len(self.reply.pieces())
        self.claimed.append(prompt + completion)
        return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def _sse(data: Mapping[str, Any]) -> bytes:
    return f"data: {json.dumps(data)}\n\n".encode()


def _head(status: int, headers: Mapping[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} Scripted", *(f"{name}: {value}" for name, value in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


async def read_request(reader: asyncio.StreamReader) -> Recorded | None:
    """The next request of a connection, or None at its end."""
    head = await reader.readuntil(b"\r\n\r\n") if not reader.at_eof() else b""
    if not head:
        return None
    first, *rest = head.decode("latin-1").rstrip().split("\r\n")
    headers = {name.strip().lower(): value.strip() for name, value in (line.split(":", 1) for line in rest)}
    data = await reader.readexactly(int(headers.get("content-length", 0)))
    return Recorded(first.split()[1], headers, json.loads(data) if data else {}, time.monotonic())

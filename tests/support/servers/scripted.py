"""An OpenAI-compatible model server whose every byte is written by the test.

    with ScriptedModel() as model:
        model.reply("PLAN: add them\n```python\n...\n```")
        ...                                   # the code under test talks to model.base_url
        assert model.wait_request(1).body["stream"]

It listens on a real port of 127.0.0.1 and lives in a thread of its own, so it serves synchronous tests, coroutines
and child processes alike. What it answers: the first matcher of `on` that fits, else the next of the queue
(`reply`, `replies`), else `default`.
"""

from __future__ import annotations

import asyncio
import json
import re
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Literal, Self

Body = Mapping[str, Any]
Mode = Literal["stream", "json", "cut_json", "html", "error", "no_choices", "malformed", "error_event", "endless"]

HTML = "<!DOCTYPE html><html><head><title>Welcome</title></head><body>Please sign in to the network.</body></html>"


@dataclass(frozen=True)
class Reply:
    """What the server sends back for one chat completion.

    `chunks` overrides how `text` is cut into stream events. `delay` is slept between chunks, `first_delay` before
    anything is sent, not even the status line; `head_first` sends the status line before that delay. With `hold` the
    server waits for the event before the first chunk, or before chunk `hold_at`. `raw` is the exact body of the
    response, several pieces are written one by one. `drop_after` resets the connection after that many chunks,
    `stall_after` falls silent. `usage` is True (counted from the texts), False, or a pair of numbers.

    Modes: "stream" answers with events if the request asked for a stream, else with JSON; "json" never streams;
    "cut_json" sends half of that JSON; "html" a page; "error" the object `error` with any status; "no_choices"
    events with empty choices; "malformed" breaks the event after the chunks; "error_event" sends `error` there;
    "endless" repeats the chunks until the client leaves.
    """

    text: str = ""
    chunks: Sequence[str] | None = None
    delay: float = 0.0
    first_delay: float = 0.0
    head_first: bool = False
    finish: str | None = "stop"
    usage: bool | tuple[int, int] = True
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: bytes | Sequence[bytes] | None = None
    mode: Mode = "stream"
    drop_after: int | None = None
    stall_after: int | None = None
    no_done: bool = False
    hold: threading.Event | None = None
    hold_at: int = 0
    reasoning: str = ""
    error: Mapping[str, Any] | None = None

    @classmethod
    def failure(
        cls, status: int, message: str = "scripted failure", *, code: str | None = None, **headers: str
    ) -> Reply:
        """An HTTP error as OpenAI words it. Headers by keyword: `retry_after="1"` is `Retry-After: 1`."""
        return cls(
            mode="error",
            status=status,
            error={"message": message, "type": "scripted", "param": None, "code": code},
            headers={name.replace("_", "-").title(): value for name, value in headers.items()},
        )

    def pieces(self) -> Sequence[str]:
        """The text as stream events carry it."""
        return self.chunks if self.chunks is not None else re.findall(r"\S+\s*|\s+", self.text)


CODE_PLAN = "Libraries: none\nIt does what is asked."
"""What a model says that is asked for a plan before the code, unless a test has another."""


def plans_code(body: Body) -> bool:
    """True for the request for a plan that the budget thorough makes before the code."""
    return "Plan the code before it is written" in str(body.get("messages"))


NOTHING_TO_SAY = Reply("The script has no reply for this.")

Script = Reply | str | Callable[[Body], "Reply | str"]


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


class ScriptedModel:
    """The server. Enter it as a context to start it; leaving closes every connection and joins its thread.

    `requests` are the chat completions but for those that plan code (`plans`), `probes` the other requests,
    `connections` counts sockets. `models` are the names that GET /v1/models lists; `listing` replaces that answer.
    `disconnected` holds the times at which a client left in mid-reply, `claimed` the tokens that each reply said it
    took. A `port` of 0 is any free one.
    """

    def __init__(
        self, *, models: Sequence[str] = ("scripted-7b",), default: Script | None = None, port: int = 0
    ) -> None:
        self.models = tuple(models)
        self.listing: Reply | None = None
        self.default: Script = default if default is not None else NOTHING_TO_SAY
        self.requests: list[Recorded] = []
        self.plans: list[Recorded] = []
        self.probes: list[Recorded] = []
        self.disconnected: list[float] = []
        self.claimed: list[int] = []
        self.connections = 0
        self.port = port
        self._queue: deque[Script] = deque()
        self._matchers: list[tuple[Callable[[Body], bool], Script]] = []
        self._changed = threading.Condition()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="scripted model", daemon=True)

    @property
    def base_url(self) -> str:
        """The address as STET_BASE_URL wants it, version path included."""
        return f"http://127.0.0.1:{self.port}/v1"

    def reply(self, text: str = "", **options: Any) -> Self:
        """Queue one reply; the options are those of `Reply`."""
        return self.replies([Reply(text, **options)])

    def replies(self, replies: Iterable[Script]) -> Self:
        """Queue several replies; each is used once."""
        self._queue.extend(replies)
        return self

    def on(self, matches: Callable[[Body], bool], reply: Script) -> Self:
        """Answer every request whose body matches with `reply`; earlier matchers and matchers before the queue win."""
        self._matchers.append((matches, reply))
        return self

    def wait_request(self, count: int = 1, timeout: float = 60.0) -> Recorded:
        """Block until `count` chat requests arrived; return the last of them."""
        self._wait(lambda: len(self.requests) >= count, timeout, lambda: f"{len(self.requests)} of {count} requests")
        return self.requests[count - 1]

    def wait_disconnect(self, count: int = 1, timeout: float = 60.0) -> float:
        """Block until `count` clients left in mid-reply; return when (`time.monotonic()`) the last of them did."""
        self._wait(lambda: len(self.disconnected) >= count, timeout, lambda: f"{len(self.disconnected)} disconnects")
        return self.disconnected[count - 1]

    def reset(self) -> None:
        """Forgets what it was asked and what it was to say, for a server that outlives one test."""
        with self._changed:
            for log in (self.requests, self.plans, self.probes, self.disconnected, self._queue, self._matchers):
                log.clear()
            self.default = NOTHING_TO_SAY

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(60), "the scripted server did not start"
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(60)
        assert not self._thread.is_alive(), "the scripted server did not stop"

    def _wait(self, done: Callable[[], bool], timeout: float, seen: Callable[[], str]) -> None:
        with self._changed:
            if not self._changed.wait_for(done, timeout):
                raise TimeoutError(f"the scripted server saw {seen()} in {timeout} s")

    def _note(self, log: list[Any], entry: object) -> None:
        with self._changed:
            log.append(entry)
            self._changed.notify_all()

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        connections: set[asyncio.Task[None]] = set()

        def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self.connections += 1
            task = self._loop.create_task(self._connection(reader, writer))
            connections.add(task)
            task.add_done_callback(connections.discard)

        server = await self._loop.create_server(lambda: _Protocol(connected), "127.0.0.1", self.port)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()
        for _ in range(3):  # a client accepted in this turn of the loop is a connection some turns later
            await asyncio.sleep(0)
        while connections:
            for task in tuple(connections):
                task.cancel()
            await asyncio.gather(*connections, return_exceptions=True)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answers the requests of one connection until either side closes it."""
        wire = _Wire(writer)
        try:
            while request := await _read_request(reader):
                try:
                    await self._answer(request, wire)
                except _ClientLeftError:
                    self._note(self.disconnected, time.monotonic())
                    break
        except (ConnectionError, asyncio.IncompleteReadError, _ConnectionDroppedError):
            pass
        finally:
            writer.close()
            try:
                with suppress(ConnectionError):
                    await writer.wait_closed()
            except asyncio.CancelledError:
                writer.transport.abort()  # a client that reads no more would keep it open
                raise

    async def _answer(self, request: Recorded, wire: _Wire) -> None:
        if not request.path.endswith("/chat/completions"):
            self._note(self.probes, request)
            if not request.path.endswith("/models"):
                await wire.whole(404, "application/json", b'{"error":{"message":"no such page"}}')
            elif self.listing is not None:
                await _Exchange(self.listing, request.body, "", wire, []).run()
            else:
                data = [{"id": name, "object": "model", "created": 0, "owned_by": "test"} for name in self.models]
                await wire.whole(200, "application/json", json.dumps({"object": "list", "data": data}).encode())
            return
        reply = self._choose(request.body)
        self._note(self.plans if plans_code(request.body) else self.requests, request)
        await _Exchange(reply, request.body, "".join(self.models[:1]), wire, self.claimed).run()

    def _choose(self, body: Body) -> Reply:
        script = next((script for matches, script in self._matchers if matches(body)), None)
        if script is None and plans_code(body):
            script = CODE_PLAN
        if script is None:
            script = self._queue.popleft() if self._queue else self.default
        if callable(script):
            script = script(body)
        return Reply(script) if isinstance(script, str) else script


@contextmanager
def held_port() -> Iterator[int]:
    """A port that refuses connections until a server of the test listens on it, and that no one else is given."""
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as servers do: both may be bound then
        holder.bind(("127.0.0.1", 0))
        yield holder.getsockname()[1]


@contextmanager
def dead_endpoint() -> Iterator[str]:
    """The base URL of a port that refuses connections and that no one else can take meanwhile."""
    with held_port() as port:
        yield f"http://127.0.0.1:{port}/v1"


class _ClientLeftError(Exception):
    """The client closed the connection before it had the whole reply."""


class _ConnectionDroppedError(Exception):
    """The script told us to reset the connection."""


class _Protocol(asyncio.StreamReaderProtocol):
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


class _Wire:
    """Writes HTTP/1.1 responses to one connection, and raises as soon as the client has left."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        protocol = writer.transport.get_protocol()
        assert isinstance(protocol, _Protocol)
        self._gone = protocol.gone

    async def pause(self, seconds: float | None) -> None:
        """Wait that long (None: for ever) while the client stays."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._gone.wait(), seconds)
            raise _ClientLeftError

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
        raise _ConnectionDroppedError

    async def _write(self, data: bytes) -> None:
        if self._gone.is_set():
            raise _ClientLeftError
        try:
            self._writer.write(data)
            await self._writer.drain()
        except ConnectionError as error:
            raise _ClientLeftError from error


@dataclass(frozen=True)
class _Exchange:
    """One reply on its way to one client."""

    reply: Reply
    request: Body
    model: str
    wire: _Wire
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


async def _read_request(reader: asyncio.StreamReader) -> Recorded | None:
    """The next request of a connection, or None at its end."""
    head = await reader.readuntil(b"\r\n\r\n") if not reader.at_eof() else b""
    if not head:
        return None
    first, *rest = head.decode("latin-1").rstrip().split("\r\n")
    headers = {name.strip().lower(): value.strip() for name, value in (line.split(":", 1) for line in rest)}
    data = await reader.readexactly(int(headers.get("content-length", 0)))
    return Recorded(first.split()[1], headers, json.loads(data) if data else {}, time.monotonic())

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
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Self

from support.servers.scripted_exchange import (
    ClientLeftError,
    ConnectionDroppedError,
    Exchange,
    Recorded,
    ScriptedProtocol,
    Wire,
    read_request,
)
from support.servers.scripted_reply import Body, Reply

__all__ = ["Body", "Recorded", "Reply", "ScriptedModel", "dead_endpoint", "held_port", "plans_code"]

CODE_PLAN = "Libraries: none\nIt does what is asked."
"""What a model says that is asked for a plan before the code, unless a test has another."""


def plans_code(body: Body) -> bool:
    """True for the request for a plan that the budget thorough makes before the code."""
    return "Plan the code before it is written" in str(body.get("messages"))


NOTHING_TO_SAY = Reply("The script has no reply for this.")

Script = Reply | str | Callable[[Body], "Reply | str"]


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

        server = await self._loop.create_server(lambda: ScriptedProtocol(connected), "127.0.0.1", self.port)
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
        wire = Wire(writer)
        try:
            while request := await read_request(reader):
                try:
                    await self._answer(request, wire)
                except ClientLeftError:
                    self._note(self.disconnected, time.monotonic())
                    break
        except (ConnectionError, asyncio.IncompleteReadError, ConnectionDroppedError):
            pass
        finally:
            writer.close()
            try:
                with suppress(ConnectionError):
                    await writer.wait_closed()
            except asyncio.CancelledError:
                writer.transport.abort()  # a client that reads no more would keep it open
                raise

    async def _answer(self, request: Recorded, wire: Wire) -> None:
        if not request.path.endswith("/chat/completions"):
            self._note(self.probes, request)
            if not request.path.endswith("/models"):
                await wire.whole(404, "application/json", b'{"error":{"message":"no such page"}}')
            elif self.listing is not None:
                await Exchange(self.listing, request.body, "", wire, []).run()
            else:
                data = [{"id": name, "object": "model", "created": 0, "owned_by": "test"} for name in self.models]
                await wire.whole(200, "application/json", json.dumps({"object": "list", "data": data}).encode())
            return
        reply = self._choose(request.body)
        self._note(self.plans if plans_code(request.body) else self.requests, request)
        await Exchange(reply, request.body, "".join(self.models[:1]), wire, self.claimed).run()

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

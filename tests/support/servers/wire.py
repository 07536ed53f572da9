"""A language client made of pipes and sockets alone, for tests that look at every message a server sends.

    async with RawClient.stdio([sys.executable, "-m", "stet_ls.server", "serve", "--stdio"]) as client:
        await client.initialize(**recorded("neovim-0.11.4"))
        client.open("file:///a.py", "python", "x = 1\\n")
        result = await client.request("workspace/executeCommand", {"command": "stet.jobs"})

Requests of the server are answered by the table `client.answers` (method -> function of the params). The default for
`workspace/applyEdit` edits the client's own documents and reports the change as an editor does; `client.applying` makes
it lie. Leaving the block shuts the server down and fails if a request got no answer or two, or if the server wrote
anything but frames.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import itertools
import json
import os
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from support.servers.channel import Channel, ErrorAnswer, Json, NotAFrame, StreamChannel
from support.servers.client_documents import ClientDocuments

__all__ = ["RECORDED", "TIMEOUT", "Call", "ErrorAnswer", "Json", "RawClient", "recorded"]

TIMEOUT = 60.0
"""Seconds until a wait is given up; generous, because the machines that run the tests are busy."""

_CLIENTS = Path(__file__).parents[2] / "fixtures" / "clients"


def recorded(name: str) -> Json:
    """The `initialize` params that a real editor sent, e.g. "neovim-0.11.4"."""
    return cast(Json, json.loads((_CLIENTS / f"{name}.json").read_text()))


RECORDED = tuple(sorted(path.stem for path in _CLIENTS.glob("*.json")))
"""The names that `recorded` knows."""


@dataclass
class Call:
    """A request under way; await it for its result."""

    id: int
    method: str
    future: asyncio.Future[Any]

    def __await__(self) -> Any:
        return asyncio.wait_for(asyncio.shield(self.future), TIMEOUT).__await__()


class RawClient(ClientDocuments):
    """See the module's text. `messages` holds everything received, `sent` everything sent, both in order."""

    def __init__(self, channel: Channel) -> None:
        super().__init__()
        self.messages: list[Json] = []
        self.sent: list[Json] = []
        self.problems: list[str] = []
        self.initialize_result: Json | None = None
        self.process: asyncio.subprocess.Process | None = None
        self.returncode: int | None = None
        self.answers: dict[str, Callable[[Any], Any]] = {
            "workspace/applyEdit": self.apply_edit,
            "workspace/configuration": lambda params: [None] * len(params["items"]),
            "window/showDocument": lambda params: {"success": True},
            "window/showMessageRequest": lambda params: None,
            "window/workDoneProgress/create": lambda params: None,
            "client/registerCapability": lambda params: None,
            "client/unregisterCapability": lambda params: None,
            "workspace/diagnostic/refresh": lambda params: None,
            "workspace/codeLens/refresh": lambda params: None,
        }
        self._channel = channel
        self._ids = itertools.count(1)
        self._calls: dict[int, Call] = {}
        self._answered: Counter[Any] = Counter()
        self._waiters: list[tuple[Callable[[Json], bool], asyncio.Future[Json]]] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._stderr = bytearray()
        self._stderr_ended: asyncio.Future[None] | None = None
        self._abandoned = False
        self.ended = asyncio.Event()

    # Ways in ---------------------------------------------------------------------------------------------------------

    @classmethod
    @contextlib.asynccontextmanager
    async def stdio(
        cls, argv: Sequence[str], *, env: Mapping[str, str] | None = None, cwd: Path | None = None
    ) -> AsyncIterator[RawClient]:
        """Starts a server and talks to it over its standard streams. `env` is added to this process' environment."""
        process = await asyncio.create_subprocess_exec(
            *argv,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, **(env or {})},
            cwd=cwd,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        client = cls(StreamChannel(process.stdout, process.stdin))
        client.process = process
        client._stderr_ended = asyncio.ensure_future(client._drain_stderr(process.stderr))
        async with client._running():
            yield client

    @classmethod
    @contextlib.asynccontextmanager
    async def tcp(cls, host: str, port: int) -> AsyncIterator[RawClient]:
        """Talks to a server that listens on a TCP port."""
        reader, writer = await asyncio.open_connection(host, port)
        async with cls(StreamChannel(reader, writer))._running() as client:
            yield client

    @classmethod
    @contextlib.asynccontextmanager
    async def over(cls, channel: Channel) -> AsyncIterator[RawClient]:
        """Talks over any channel: what has `receive`, `send` and `close`."""
        async with cls(channel)._running() as client:
            yield client

    # Speaking --------------------------------------------------------------------------------------------------------

    async def initialize(self, capabilities: Json | None = None, **params: Any) -> Json:
        """Sends `initialize` and `initialized`; `params` are those of the protocol, null where not given."""
        defaults = {"processId": os.getpid(), "rootUri": None, "workspaceFolders": None}
        result = await self.request("initialize", {**defaults, **params, "capabilities": capabilities or {}})
        self.initialize_result = cast(Json, result)
        self.encoding = self.initialize_result["capabilities"].get("positionEncoding", "utf-16")
        self.notify("initialized", {})
        return self.initialize_result

    async def request(self, method: str, params: Any = None) -> Any:
        """The result of a request; an error answer raises ErrorAnswer."""
        return await self.call(method, params)

    def call(self, method: str, params: Any = None) -> Call:
        """Sends a request and does not wait for its answer."""
        call = Call(next(self._ids), method, asyncio.get_running_loop().create_future())
        self._calls[call.id] = call
        message = {"jsonrpc": "2.0", "id": call.id, "method": method}
        self.send(message if params is None else {**message, "params": params})
        return call

    def cancel(self, call: Call) -> None:
        """Asks the server to give a request up."""
        self.notify("$/cancelRequest", {"id": call.id})

    def notify(self, method: str, params: Any = None) -> None:
        """Sends a notification."""
        message = {"jsonrpc": "2.0", "method": method}
        self.send(message if params is None else {**message, "params": params})

    def send(self, *messages: Json) -> None:
        """Sends messages as they are, all in one write."""
        self.sent += messages
        self._channel.send(*messages)

    def send_bytes(self, data: bytes) -> None:
        """Sends anything at all, over a byte stream."""
        cast(StreamChannel, self._channel).writer.write(data)

    def send_body(self, body: str) -> None:
        """Sends any body in a proper frame."""
        self._channel.send_body(body)

    # Listening -------------------------------------------------------------------------------------------------------

    def mark(self) -> int:
        """The number of messages so far: `wait_for(..., since=mark)` looks at later ones only."""
        return len(self.messages)

    async def wait_for(self, wanted: Callable[[Json], bool], *, since: int = 0, timeout: float = TIMEOUT) -> Json:
        """The first message, received or still to come, of which `wanted` is true."""
        for message in self.messages[since:]:
            if wanted(message):
                return message
        future: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._waiters.append((wanted, future))
        if self.ended.is_set():
            future.set_exception(AssertionError(f"the server has ended\n{self.stderr}"))
        return await asyncio.wait_for(future, timeout)

    async def wait_notification(self, method: str, *, since: int = 0, timeout: float = TIMEOUT) -> Json:
        """The params of the first message with that method."""
        message = await self.wait_for(lambda m: m.get("method") == method, since=since, timeout=timeout)
        return cast(Json, message.get("params"))

    def received(self, method: str) -> list[Json]:
        """The params of all messages with that method so far."""
        return [message.get("params", {}) for message in self.messages if message.get("method") == method]

    @property
    def stderr(self) -> str:
        """What the server wrote to its standard error so far."""
        return self._stderr.decode("utf-8", "replace")

    # The machinery ---------------------------------------------------------------------------------------------------

    def abandon(self) -> None:
        """Gives the connection up: leaving the block will not shut down, and no answers are counted."""
        self._abandoned = True

    async def kill(self) -> None:
        """Kills the server that `stdio` started."""
        assert self.process is not None
        self.abandon()
        self.process.kill()
        await self.process.wait()

    async def stop(self) -> int | None:
        """Shuts down, exits and returns the exit status (None over a socket)."""
        if not self.ended.is_set():
            if self.initialize_result is not None and not any(m.get("method") == "shutdown" for m in self.sent):
                await self.request("shutdown")
            self.notify("exit")
        return await self.wait_end()

    async def wait_end(self) -> int | None:
        """Waits until the server has gone and returns its exit status (None over a socket)."""
        await asyncio.wait_for(self.ended.wait(), TIMEOUT)
        if self.process is not None:
            self.returncode = await asyncio.wait_for(self.process.wait(), TIMEOUT)
            await self._hear_out()
        return self.returncode

    @contextlib.asynccontextmanager
    async def _running(self) -> AsyncIterator[RawClient]:
        self._spawn(self._listen())
        try:
            yield self
            if not self._abandoned:
                if not self.ended.is_set():
                    await self.stop()
                self._check()
        finally:
            if self.process is not None and self.process.returncode is None:
                self.process.kill()
            await self._channel.close()
            if self.process is not None:
                await self.process.wait()
                await asyncio.wait_for(self.ended.wait(), TIMEOUT)
                await self._hear_out()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def _check(self) -> None:
        for call in self._calls.values():
            if (count := self._answered[call.id]) != 1:
                self.problems.append(f"request {call.id} ({call.method}) got {count} answers")
        assert not self.problems, "\n".join([*self.problems, self.stderr[-4000:]])

    def _spawn(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _drain_stderr(self, stream: asyncio.StreamReader) -> None:
        while chunk := await stream.read(65536):
            self._stderr += chunk

    async def _hear_out(self) -> None:
        """Takes what a server wrote last; a child of its own that outlives it may hold the end of that back."""
        if self._stderr_ended is not None:
            await asyncio.wait({self._stderr_ended}, timeout=2)
            self._stderr_ended.cancel()
            await asyncio.gather(self._stderr_ended, return_exceptions=True)

    async def _listen(self) -> None:
        try:
            while (message := await self._channel.receive()) is not None:
                self._take(message)
        except (NotAFrame, ConnectionError) as problem:
            self.problems.append(repr(problem))
        finally:
            self.ended.set()
            lost = AssertionError(f"the server ended before it answered\n{self.stderr[-4000:]}")
            for call in self._calls.values():
                if not call.future.done():
                    call.future.set_exception(lost)
                    call.future.exception()
            for _, future in self._waiters:
                if not future.done():
                    future.set_exception(lost)

    def _take(self, message: Json) -> None:
        self.messages.append(message)
        if "method" in message:
            if "id" in message:
                self._spawn(self._answer(message))
        else:
            self._settle(message)
        for wanted, future in self._waiters:
            if not future.done() and wanted(message):
                future.set_result(message)
        self._waiters = [waiter for waiter in self._waiters if not waiter[1].done()]

    def _settle(self, message: Json) -> None:
        self._answered[message.get("id")] += 1
        call = self._calls.get(message.get("id", -1))
        if call is None or call.future.done():
            if message.get("id") is not None:
                self.problems.append(f"answer to nothing: {message}")
            return
        if (error := message.get("error")) is not None:
            call.future.set_exception(ErrorAnswer(error["code"], error["message"], error.get("data")))
            call.future.exception()
        else:
            call.future.set_result(message.get("result"))

    async def _answer(self, message: Json) -> None:
        reply: Json = {"jsonrpc": "2.0", "id": message["id"]}
        try:
            if (answer := self.answers.get(message["method"])) is None:
                raise ErrorAnswer(-32601, f"Method not found: {message['method']}")
            result = answer(message.get("params"))
            reply["result"] = await result if inspect.isawaitable(result) else result
        except ErrorAnswer as error:
            reply["error"] = {"code": error.code, "message": error.message}
        self.send(reply)
        pending, self.after_answer = self.after_answer, []
        for method, params in pending:
            self.notify(method, params)

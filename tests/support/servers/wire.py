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
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any, cast
from urllib.parse import unquote, urlsplit

from stet_ls.validators.source import Encoding, Source, Span, Splice

Json = dict[str, Any]
Position = tuple[int, int]
Range = tuple[Position, Position]

PATIENCE = 60.0
"""Seconds until a wait is given up; generous, because the machines that run the tests are busy."""

_HEADER = re.compile(rb"(Content-Length|Content-Type): ([^\r\n]*)\r\n")
_CLIENTS = Path(__file__).parents[2] / "fixtures" / "clients"


def recorded(name: str) -> Json:
    """The `initialize` params that a real editor sent, e.g. "neovim-0.11.4"."""
    return cast(Json, json.loads((_CLIENTS / f"{name}.json").read_text()))


RECORDED = tuple(sorted(path.stem for path in _CLIENTS.glob("*.json")))
"""The names that `recorded` knows."""


class ErrorAnswer(Exception):
    """An error answered to a request, by either side."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.data = data


class Applying(Enum):
    """What the client does with a `workspace/applyEdit`."""

    HONESTLY = "applies it if the versions fit, and says so"
    BLINDLY = "applies it whatever the versions are"
    REFUSES = "answers applied: false"
    CLAIMS = "answers applied: true and does nothing, as Neovim does with an old version"
    DENIES = "applies it and answers applied: false"
    FAILS = "answers an error, as eglot does when its user declines"


@dataclass
class Buffer:
    """A document as the client holds it."""

    uri: str
    language: str
    version: int
    source: Source
    history: list[Source] = field(default_factory=list)


@dataclass
class Call:
    """A request under way; await it for its result."""

    id: int
    method: str
    future: asyncio.Future[Any]

    def __await__(self) -> Any:
        return asyncio.wait_for(asyncio.shield(self.future), PATIENCE).__await__()


class RawClient:
    """See the module's text. `messages` holds everything received, `sent` everything sent, both in order."""

    def __init__(self, channel: Channel) -> None:
        self.messages: list[Json] = []
        self.sent: list[Json] = []
        self.problems: list[str] = []
        self.documents: dict[str, Buffer] = {}
        self.created: list[str] = []
        self.renamed: list[tuple[Path, Path]] = []
        self.encoding: Encoding = "utf-16"
        self.applying = Applying.HONESTLY
        self.answers_before_change = False
        self.initialize_result: Json | None = None
        self.process: asyncio.subprocess.Process | None = None
        self.returncode: int | None = None
        self.answers: dict[str, Callable[[Any], Any]] = {
            "workspace/applyEdit": self._apply_edit,
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
        self._after_answer: list[tuple[str, Json]] = []
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

    async def wait_for(self, wanted: Callable[[Json], bool], *, since: int = 0, timeout: float = PATIENCE) -> Json:
        """The first message, received or still to come, of which `wanted` is true."""
        for message in self.messages[since:]:
            if wanted(message):
                return message
        future: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._waiters.append((wanted, future))
        if self.ended.is_set():
            future.set_exception(AssertionError(f"the server has ended\n{self.stderr}"))
        return await asyncio.wait_for(future, timeout)

    async def wait_notification(self, method: str, *, since: int = 0, timeout: float = PATIENCE) -> Json:
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

    # Documents -------------------------------------------------------------------------------------------------------

    def open(self, uri: str, language: str, text: str, version: int = 1) -> None:
        """Opens a document with a text of its own, whatever is on the disk."""
        self.documents[uri] = Buffer(uri, language, version, Source(text))
        item = {"uri": uri, "languageId": language, "version": version, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})

    def change(self, uri: str, text: str, at: Range | None = None) -> None:
        """Puts `text` in the place of a range, or (None) of the whole document."""
        buffer = self.documents[uri]
        if at is None:
            self._update(buffer, Source(text), [{"text": text}])
            return
        change = {"range": _to_range(at), "text": text}
        self._update(buffer, buffer.source.splice([self._splice(buffer, change["range"], text)]), [change])

    def replace(self, uri: str, old: str, new: str) -> None:
        """Replaces the only occurrence of `old`, as a person typing would: by a change with a range."""
        source = self.documents[uri].source
        assert source.text.count(old) == 1, f"{old!r} occurs {source.text.count(old)} times"
        start = len(source.text[: source.text.index(old)].encode("utf-8", "surrogatepass"))
        end = start + len(old.encode("utf-8", "surrogatepass"))
        self.change(uri, new, (source.position(start, self.encoding), source.position(end, self.encoding)))

    def undo(self, uri: str) -> None:
        """Takes the last change of a document back."""
        buffer = self.documents[uri]
        previous = buffer.history.pop()
        self._update(buffer, previous, [{"text": previous.text}])
        buffer.history.pop()

    def save(self, uri: str) -> None:
        """Says that the document was saved; the disk is the test's business."""
        self.notify("textDocument/didSave", {"textDocument": {"uri": uri}})

    def close(self, uri: str) -> None:
        """Closes a document."""
        del self.documents[uri]
        self.notify("textDocument/didClose", {"textDocument": {"uri": uri}})

    def text(self, uri: str) -> str:
        """The client's text of a document."""
        return self.documents[uri].source.text

    def _update(self, buffer: Buffer, source: Source, changes: list[Json], *, later: bool = False) -> None:
        buffer.history.append(buffer.source)
        buffer.source = source
        buffer.version += 1
        identifier = {"uri": buffer.uri, "version": buffer.version}
        params = {"textDocument": identifier, "contentChanges": changes}
        if later:
            self._after_answer.append(("textDocument/didChange", params))
        else:
            self.notify("textDocument/didChange", params)

    def _splice(self, buffer: Buffer, at: Json, text: str) -> Splice:
        start, end = (
            buffer.source.offset(at[side]["line"], at[side]["character"], self.encoding) for side in ("start", "end")
        )
        return Splice(Span(start, end), text)

    # Applying the server's edits -------------------------------------------------------------------------------------

    def _apply_edit(self, params: Json) -> Json:
        if self.applying is Applying.FAILS:
            raise ErrorAnswer(-32603, "User cancelled server edit")
        if self.applying is Applying.REFUSES:
            return {"applied": False, "failureReason": "refused"}
        if self.applying is Applying.CLAIMS:
            return {"applied": True}
        changes = list(_document_changes(params["edit"]))
        if self.applying is Applying.HONESTLY:
            for change in changes:
                identifier = change.get("textDocument", {})
                buffer = self.documents.get(identifier.get("uri", ""))
                version = identifier.get("version")
                if buffer is not None and version is not None and version != buffer.version:
                    return {"applied": False, "failureReason": f"version {version}, but it is {buffer.version}"}
        for change in changes:
            self._apply_document_change(change)
        return {"applied": self.applying is not Applying.DENIES}

    def _apply_document_change(self, change: Json) -> None:
        if change.get("kind") == "create":
            self.created.append(change["uri"])
            if change["uri"] not in self.documents:
                self.open(change["uri"], "plaintext", "")
            return
        if change.get("kind") == "rename":
            old, new = (Path(unquote(urlsplit(change[key]).path)) for key in ("oldUri", "newUri"))
            if change["oldUri"] in self.documents:
                old.write_text(self.text(change["oldUri"]))
                self.close(change["oldUri"])
            new.parent.mkdir(parents=True, exist_ok=True)
            old.rename(new)
            self.renamed.append((old, new))
            return
        assert "kind" not in change, f"the test client cannot {change['kind']}"
        uri = change["textDocument"]["uri"]
        if uri not in self.documents:
            self.open(uri, "plaintext", Path(unquote(urlsplit(uri).path)).read_bytes().decode())
        buffer = self.documents[uri]
        assert all("newText" in edit for edit in change["edits"]), "the client offered no snippets"
        splices = [self._splice(buffer, edit["range"], edit["newText"]) for edit in change["edits"]]
        last_first = sorted(
            change["edits"], key=lambda e: (e["range"]["start"]["line"], e["range"]["start"]["character"])
        )[::-1]
        content_changes = [{"range": edit["range"], "text": edit["newText"]} for edit in last_first]
        self._update(buffer, buffer.source.splice(splices), content_changes, later=self.answers_before_change)

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
        await asyncio.wait_for(self.ended.wait(), PATIENCE)
        if self.process is not None:
            self.returncode = await asyncio.wait_for(self.process.wait(), PATIENCE)
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
                await asyncio.wait_for(self.ended.wait(), PATIENCE)
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
        pending, self._after_answer = self._after_answer, []
        for method, params in pending:
            self.notify(method, params)


class NotAFrame(Exception):
    """The server wrote something that is no LSP frame."""


class Channel:
    """One connection that carries whole messages."""

    async def receive(self) -> Json | None:
        """The next message; None at the end."""
        raise NotImplementedError

    def send(self, *messages: Json) -> None:
        """Sends messages, in one write where that means something."""
        for message in messages:
            self.send_body(json.dumps(message))

    def send_body(self, body: str) -> None:
        """Sends any body in a proper frame."""
        raise NotImplementedError

    async def close(self) -> None:
        """Closes the connection."""
        raise NotImplementedError


class StreamChannel(Channel):
    """LSP's framing over a pair of byte streams."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def receive(self) -> Json | None:
        length = 0
        while (line := await self.reader.readline()) != b"\r\n":
            if not line:
                return None
            if (header := _HEADER.fullmatch(line)) is None:
                raise NotAFrame(line)
            if header[1] == b"Content-Length":
                length = int(header[2])
        try:
            return cast(Json, json.loads(await self.reader.readexactly(length)))
        except asyncio.IncompleteReadError:
            return None

    def send(self, *messages: Json) -> None:
        self.writer.write(b"".join(frame(json.dumps(message)) for message in messages))

    def send_body(self, body: str) -> None:
        self.writer.write(frame(body))

    async def close(self) -> None:
        self.writer.close()
        with contextlib.suppress(ConnectionError):
            await self.writer.wait_closed()


def frame(body: str) -> bytes:
    """A message's body as it goes over a byte stream."""
    data = body.encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(data), data)


def _document_changes(edit: Json) -> list[Json]:
    if "documentChanges" in edit:
        return cast(list[Json], edit["documentChanges"])
    return [{"textDocument": {"uri": uri}, "edits": edits} for uri, edits in edit.get("changes", {}).items()]


def _to_range(at: Range) -> Json:
    (start_line, start), (end_line, end) = at
    return {"start": {"line": start_line, "character": start}, "end": {"line": end_line, "character": end}}

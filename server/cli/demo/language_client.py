"""A small language client over the pipes of a child process: enough of an editor for the demo.

pygls' own client is not used: it never reads the server's stderr, so a server that logs much would block, and it leaves
the server alive when its start is cancelled.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from stet_ls.engine.errors import StetError
from stet_ls.engine.sandbox.processes.supervise import started_whole
from stet_ls.validators.source import Source, Splice
from stet_ls.validators.source import Span as ByteSpan

Json = dict[str, Any]

CAPABILITIES: Json = {
    "general": {"positionEncodings": ["utf-8"]},
    "window": {"workDoneProgress": True},
    "workspace": {"applyEdit": True, "workspaceEdit": {"documentChanges": True, "resourceOperations": ["create"]}},
    "textDocument": {"synchronization": {"didSave": True}},
}


class ServerGoneError(StetError):
    """The server ended while the client was still connected."""


@dataclass(frozen=True, slots=True)
class OpenDocument:
    """A document as the client has it."""

    version: int
    source: Source


class LanguageClient:
    """Talks to one server. `documents` are the open ones by URI; `on_progress` receives progress texts."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None, "started with pipes"
        assert process.stdout is not None, "started with pipes"
        self._process = process
        self._writer, self._reader = process.stdin, process.stdout
        self._ids = itertools.count(1)
        self._pending: dict[int, asyncio.Future[Any]] = {}
        self.documents: dict[str, OpenDocument] = {}
        self.created: dict[str, str] = {}
        self.on_progress: Callable[[str], None] = lambda _: None
        self._answers: Mapping[str, Callable[[Json], Any]] = {
            "workspace/applyEdit": self._apply_edit,
            "workspace/configuration": lambda params: [None] * len(params["items"]),
        }
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def start(cls, argv: Sequence[str], root: Path) -> LanguageClient:
        """Starts a server and initializes it for the project at `root`. Cancellation ends the server."""
        process = await started_whole(
            argv, _kill, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, cwd=root
        )
        client = cls(process)
        folders = [{"uri": root.as_uri(), "name": root.name}]
        params = {"processId": None, "rootUri": root.as_uri(), "workspaceFolders": folders}
        try:
            await client.request(
                "initialize", {**params, "capabilities": CAPABILITIES, "clientInfo": {"name": "stet demo"}}
            )
        except BaseException:
            await client._end()
            raise
        client.notify("initialized", {})
        return client

    async def close(self) -> None:
        """Ends the server: by request first, then by force."""
        try:
            with contextlib.suppress(TimeoutError, OSError, StetError):
                await asyncio.wait_for(self._say_goodbye(), 10)
        finally:
            await self._end()

    async def _end(self) -> None:
        self._reading.cancel()
        if self._process.returncode is None:
            _kill(self._process.pid)
            await self._process.wait()

    async def _say_goodbye(self) -> None:
        await self.request("shutdown", None)
        self.notify("exit", None)
        await self._process.wait()

    def open(self, path: Path, language: str) -> str:
        """Opens a file as an editor does, and returns its URI."""
        uri, text = path.as_uri(), path.read_bytes().decode()
        self.documents[uri] = OpenDocument(1, Source(text))
        document = {"uri": uri, "languageId": language, "version": 1, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": document})
        return uri

    async def command(self, name: str, argument: Json | None = None) -> Any:
        """Runs a command of the server."""
        arguments = [] if argument is None else [argument]
        return await self.request("workspace/executeCommand", {"command": name, "arguments": arguments})

    async def request(self, method: str, params: Any) -> Any:
        """The result of a request. StetError with the server's message if it answers with an error, or has ended."""
        if self._reading.done():
            raise _gone()
        number = next(self._ids)
        future = self._pending[number] = asyncio.get_running_loop().create_future()
        self._send({"id": number, "method": method, "params": params})
        return await future

    def notify(self, method: str, params: Any) -> None:
        """Sends a notification."""
        self._send({"method": method, "params": params})

    def _send(self, message: Json) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False).encode("utf-8", "surrogatepass")
        self._writer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    async def _read(self) -> None:
        try:
            while True:
                head = await self._reader.readuntil(b"\r\n\r\n")
                lengths = (line for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
                length = int(next(lengths, b"").partition(b":")[2])
                self._receive(json.loads(await self._reader.readexactly(length)))
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError, ValueError):  # or not a message
            for future in self._pending.values():
                if not future.done():
                    future.set_exception(_gone())

    def _receive(self, message: Json) -> None:
        if "method" not in message:
            future = self._pending.pop(message["id"])
            if future.done():
                return
            if "error" in message:
                future.set_exception(StetError(message["error"]["message"]))
            else:
                future.set_result(message.get("result"))
        elif "id" in message:
            answer = self._answers.get(message["method"])
            result = answer(message.get("params") or {}) if answer else None
            self._send({"id": message["id"], "result": result})
        elif message["method"] == "$/progress":
            value = message["params"]["value"]
            if text := value.get("message") or value.get("title"):
                self.on_progress(text)

    def _apply_edit(self, params: Json) -> Json:
        """Applies a workspace edit completely or not at all, and reports the changes as an editor does."""
        edit = params["edit"]
        changes = edit.get("documentChanges") or [
            {"textDocument": {"uri": uri, "version": None}, "edits": edits}
            for uri, edits in edit.get("changes", {}).items()
        ]
        for change in changes:
            document = self.documents.get(change["textDocument"]["uri"]) if "textDocument" in change else None
            if document and change["textDocument"]["version"] not in (None, document.version):
                return {"applied": False, "failureReason": "the document has changed"}
        for change in changes:
            if change.get("kind") == "create":
                path = path_of(change["uri"])
                path.parent.mkdir(parents=True, exist_ok=True)
                path.touch()
                self.created[change["uri"]] = ""
            else:
                self._edit_document(change["textDocument"]["uri"], change["edits"])
        return {"applied": True}

    def _edit_document(self, uri: str, edits: Sequence[Json]) -> None:
        document = self.documents.get(uri)
        if document is None:
            path = path_of(uri)
            source = _edited(Source(path.read_text(encoding="utf-8")), edits)
            path.write_text(source.text, encoding="utf-8")
            self.created[uri] = source.text
            return
        after = OpenDocument(document.version + 1, _edited(document.source, edits))
        self.documents[uri] = after
        identifier = {"uri": uri, "version": after.version}
        self.notify(
            "textDocument/didChange", {"textDocument": identifier, "contentChanges": [{"text": after.source.text}]}
        )


def _gone() -> ServerGoneError:
    return ServerGoneError("the server ended unexpectedly; see its log")


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, getattr(signal, "SIGKILL", signal.SIGTERM))


def path_of(uri: str) -> Path:
    """The path of a file URI."""
    return Path(unquote(urlsplit(uri).path))


def _edited(source: Source, edits: Sequence[Json]) -> Source:
    return source.splice(Splice(_span(source, edit["range"]), edit["newText"]) for edit in edits)


def _span(source: Source, range_: Json) -> ByteSpan:
    start, end = (source.offset(at["line"], at["character"]) for at in (range_["start"], range_["end"]))
    return ByteSpan(start, end)

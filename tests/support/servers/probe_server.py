"""A small server to probe: `probe_server.py hardened|stock [--tcp PORT | --ws PORT]`, with the same commands on both.

"hardened" is what the product is made of; "stock" is pygls as it comes.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

TOKEN = "open sesame"


async def block(ls: Any) -> str:
    """Waits until it is cancelled, and says how it ended."""
    ls.protocol.notify("probe/state", {"state": "started"})
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        ls.protocol.notify("probe/state", {"state": "cancelled"})
        raise
    return "never"


async def linger(ls: Any) -> None:
    """Needs a moment to clean up after its cancellation."""
    ls.protocol.notify("probe/state", {"state": "started"})
    try:
        await asyncio.Event().wait()
    finally:
        await asyncio.sleep(0.05)
        ls.protocol.notify("probe/state", {"state": "cleaned up"})


async def cancel_itself(ls: Any) -> None:
    """Is cancelled from within the server."""
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await asyncio.Event().wait()


def stuck(ls: Any) -> None:
    """Blocks the loop for ever."""
    import threading

    threading.Event().wait()


async def occupy(ls: Any) -> None:
    """Fills every worker thread of the loop with work that ends only when this is cancelled."""
    import threading

    let_go = threading.Event()
    work = [asyncio.create_task(asyncio.to_thread(let_go.wait)) for _ in range(64)]
    ls.protocol.notify("probe/state", {"state": "started"})
    try:
        await asyncio.gather(*work)
    finally:
        let_go.set()


def fail(ls: Any) -> None:
    """Has a bug."""
    raise ValueError("the password is hunter2")


def unserializable(ls: Any) -> object:
    """Returns text that is not JSON."""
    return {"value": object()}


def noise(ls: Any) -> str:
    """Prints in every way there is, and starts a child that reads all input."""
    print("print")
    sys.stdout.flush()
    os.system("echo system")
    os.write(1, b"write\n")
    eaten = subprocess.run([sys.executable, "-c", "import sys; print(len(sys.stdin.read()))"], capture_output=True)
    return eaten.stdout.decode().strip()


async def ask(ls: Any) -> str | None:
    """Asks the client a question, and gives up when cancelled."""
    params = types.ShowMessageRequestParams(types.MessageType.Info, "well?", [types.MessageActionItem("yes")])
    item = await ls.window_show_message_request_async(params)
    return item.title if item else None


async def malformed(ls: Any) -> str:
    """Sends a request that is not JSON."""
    try:
        await ls.protocol.send_request_async(types.WORKSPACE_APPLY_EDIT, object())
    except Exception as error:
        return str(error)
    return "answered"


async def apply(ls: Any) -> dict[str, Any]:
    """Sends an empty edit and says what the client answered."""
    try:
        answer = await ls.workspace_apply_edit_async(types.ApplyWorkspaceEditParams(types.WorkspaceEdit()))
    except Exception as error:
        return {"error": str(error)}
    return {"applied": answer.applied}


async def progress(ls: Any) -> str:
    """Shows a progress until it is cancelled by the client."""
    await ls.work_done_progress.create_async("token")
    cancelled = ls.work_done_progress.tokens["token"]
    try:
        await asyncio.wrap_future(cancelled)
    except asyncio.CancelledError:
        ls.work_done_progress.end("token", types.WorkDoneProgressEnd())
        return f"cancelled, {len(ls.work_done_progress.tokens)} tokens left"
    return "ended"


def texts(ls: Any) -> dict[str, Any]:
    """Every document that is open, as the server has it."""
    if hasattr(ls.protocol, "documents"):
        opened = ls.protocol.documents.open_snapshots()
        return {each.uri: {"version": each.version, "text": each.source.text} for each in opened}
    return {uri: {"version": each.version, "text": each.source} for uri, each in ls.workspace.text_documents.items()}


def log_level(ls: Any) -> str:
    """What pygls may log."""
    import logging

    return logging.getLevelName(logging.getLogger("pygls.protocol.json_rpc").getEffectiveLevel())


HANDLERS = (
    block,
    linger,
    occupy,
    stuck,
    cancel_itself,
    fail,
    unserializable,
    noise,
    ask,
    malformed,
    apply,
    progress,
    texts,
    log_level,
)


def hardened() -> LanguageServer:
    """What the product is made of."""
    from pydantic import BaseModel, ConfigDict

    from stet_ls.server.lsp.message_converter import converter_factory
    from stet_ls.server.lsp.protocol import Protocol

    class NoParams(BaseModel):
        model_config = ConfigDict(extra="forbid")

    class EchoParams(BaseModel):
        text: str = ""
        count: int = 1

    class SnapshotParams(BaseModel):
        uri: str = ""

    class EditParams(BaseModel):
        edit: dict[str, Any] = {}

    @dataclass(frozen=True)
    class Spec:
        run: Any
        params: type[BaseModel] = NoParams

        def model(self) -> type[BaseModel]:
            return self.params

    async def snapshot(ls: LanguageServer, params: SnapshotParams) -> dict[str, Any]:
        seen = ls.protocol.documents.snapshot(params.uri or ls.protocol.documents.latest() or "")
        await asyncio.sleep(0)
        if seen is None:
            return {"text": None}
        return {"text": seen.source.text, "version": seen.version, "language": seen.language, "uri": seen.uri}

    async def edit(ls: LanguageServer, params: EditParams) -> dict[str, Any]:
        converted = ls.protocol._converter.structure(params.edit, types.WorkspaceEdit)
        answer = await ls.workspace_apply_edit_async(types.ApplyWorkspaceEditParams(converted))
        return {"applied": answer.applied, "reason": answer.failure_reason}

    ls = LanguageServer("probe", "1", protocol_cls=Protocol, converter_factory=converter_factory)
    protocol = ls.protocol
    assert isinstance(protocol, Protocol)
    for handler in HANDLERS:
        protocol.add_command(f"probe.{handler.__name__}", Spec(lambda ls, params, handler=handler: handler(ls)))
    protocol.add_command("probe.echo", Spec(lambda ls, params: {"text": params.text * params.count}, EchoParams))
    protocol.add_command("probe.edit", Spec(edit, EditParams))
    protocol.add_command("probe.snapshot", Spec(snapshot, SnapshotParams))
    options = types.TextDocumentContentRegistrationOptions(["probe"])
    ls.feature(types.WORKSPACE_TEXT_DOCUMENT_CONTENT, options)(
        lambda params: types.TextDocumentContentResult(f"text of {params.uri}")
    )
    return add_features(ls)


def stock() -> LanguageServer:
    """pygls as it comes."""
    ls = LanguageServer("probe", "1")
    for handler in HANDLERS:
        ls.command(f"probe.{handler.__name__}")(handler)

    @ls.command("probe.echo")
    def echo(ls: LanguageServer, text: str, count: int = 1) -> dict[str, str]:
        return {"text": text * count}

    return add_features(ls)


def add_features(ls: LanguageServer) -> LanguageServer:
    @ls.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(ls: Any, params: types.HoverParams) -> types.Hover | None:
        await block(ls)
        return None

    @ls.feature(types.TEXT_DOCUMENT_CODE_ACTION)
    def code_action(params: types.CodeActionParams) -> list[types.CodeAction]:
        return [types.CodeAction(str(params.context.trigger_kind))]

    @ls.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def configuration(params: types.DidChangeConfigurationParams) -> None:
        raise ValueError("the password is hunter2")

    return ls


def main(kind: str, channel: str = "--stdio", port: str = "0") -> int:
    ls = hardened() if kind == "hardened" else stock()
    if kind == "stock":
        if channel == "--tcp":
            ls.start_tcp("127.0.0.1", int(port))
        else:
            ls.start_io()
        return 0
    from stet_ls.server.lsp import transport

    if channel == "--stdio":
        return transport.serve_stdio(ls)
    serve = transport.serve_tcp if channel == "--tcp" else transport.serve_ws
    return serve(ls, "127.0.0.1", int(port), TOKEN)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

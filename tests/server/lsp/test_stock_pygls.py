"""What pygls 2.1.1 does by itself where Stet does otherwise, one test for each correction.

Each of these records a defect. When one fails after an upgrade, pygls has changed there: the correction may go.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import os
import sys
import threading
from concurrent.futures import Future, InvalidStateError, ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import pygls.io_
import pygls.server
import pytest
from lsprotocol import types
from pygls.cli import start_server
from pygls.workspace import PositionCodec, TextDocument, Workspace
from support.servers import probe_server
from support.servers.channel import StreamChannel
from support.servers.probe_server import stock
from support.servers.probing import command, error_of
from support.servers.scripted import held_port
from support.servers.stock_pygls import StockChannel, connected
from support.servers.wire import Call, ErrorAnswer, RawClient

URI = "file:///nowhere/a.py"
ARGV = [sys.executable, str(Path(probe_server.__file__)), "stock"]


async def round_trips(client: RawClient) -> None:
    """Time enough for everything that was going to happen."""
    for _ in range(5):
        assert await client.request("workspace/executeCommand", command("log_level"))


async def started(client: RawClient) -> Call:
    call = client.call("workspace/executeCommand", command("block"))
    await client.wait_for(lambda m: m.get("params") == {"state": "started"})
    return call


# Corrected by Protocol.lsp_workspace__execute_command


async def test_a_cancel_does_not_reach_a_command() -> None:
    async with connected() as client:
        await client.initialize()
        call = await started(client)
        client.cancel(call)
        with pytest.raises(ErrorAnswer, match="-32800"):
            await call
        await round_trips(client)
        assert client.received("probe/state") == [{"state": "started"}]


async def test_a_command_whose_task_is_cancelled_is_never_answered() -> None:
    async with connected() as client:
        await client.initialize()
        call = client.call("workspace/executeCommand", command("cancel_itself"))
        await round_trips(client)
        assert not call.future.done()


async def test_arguments_have_no_defaults_and_cannot_be_left_out() -> None:
    async with connected() as client:
        await client.initialize()
        assert (await error_of(client, "workspace/executeCommand", command("echo", "a"))).code == -32602
        assert (await error_of(client, "workspace/executeCommand", {"command": "probe.echo"})).code == -32603


# Corrected by reading the standard input in a thread of its own (transport.py)


async def test_input_waits_for_slow_handlers() -> None:
    read_end, write_end = os.pipe()
    let_go = threading.Event()
    with os.fdopen(read_end, "rb") as stdin, ThreadPoolExecutor(max_workers=1) as pool:
        slow = pool.submit(let_go.wait)
        os.write(write_end, b"Content-Length: 2\r\n")
        os.close(write_end)
        line = asyncio.ensure_future(pygls.io_.StdinAsyncReader(stdin, pool).readline())
        await asyncio.wait([line], timeout=0.05)
        assert not line.done()
        let_go.set()
        assert await line == b"Content-Length: 2\r\n"
        slow.result()


# Corrected by Protocol.lsp_shutdown


async def test_shutdown_fails_while_a_command_runs() -> None:
    async with connected() as client:
        await client.initialize()
        await started(client)
        error = await error_of(client, "shutdown")
        assert (error.code, error.message) == (-32603, "RuntimeError: dictionary changed size during iteration")


# Corrected by Protocol._send_data


def test_a_message_that_cannot_be_sent_is_reported_by_messages_that_cannot_be_sent() -> None:
    class Closed:
        tries = 0

        def write(self, data: bytes) -> None:
            self.tries += 1
            raise ValueError("write to closed file")

    server, writer = stock(), Closed()
    server.protocol.set_writer(cast(Any, writer))
    logging.disable(logging.CRITICAL)  # it writes megabytes
    try:
        server.protocol.notify("probe/state", {"state": "late"})
    finally:
        logging.disable(logging.NOTSET)
    assert writer.tries > 20


async def test_a_result_that_cannot_be_serialized_is_never_answered() -> None:
    async with connected() as client:
        await client.initialize()
        call = client.call("workspace/executeCommand", command("unserializable"))
        await round_trips(client)
        assert not call.future.done()


async def test_every_message_is_logged_with_its_body(caplog: pytest.LogCaptureFixture) -> None:
    server = stock()
    server.protocol.set_writer(cast(Any, StockChannel()), include_headers=False)
    level = logging.getLogger("pygls").level
    logging.getLogger("pygls").setLevel(logging.NOTSET)  # a hardened server in this process may have pinned it
    try:
        with caplog.at_level(logging.INFO):
            server.protocol.notify("probe/state", {"password": "hunter2"})
    finally:
        logging.getLogger("pygls").setLevel(level)
    assert "hunter2" in caplog.text


# Corrected by Protocol.exit_status


async def test_exit_without_shutdown_is_a_success() -> None:
    async with RawClient.stdio(ARGV) as client:
        await client.initialize()
        client.notify("exit")
        client.abandon()
        assert await client.wait_end() == 0


# Corrected by Protocol.dispatch


async def test_malformed_params_get_no_answer_but_a_message_box() -> None:
    async with connected() as client:
        await client.initialize()
        call = client.call("textDocument/codeAction", {"textDocument": {}})
        assert "Invalid Params" in (await client.wait_notification("window/showMessage"))["message"]
        await round_trips(client)
        assert not call.future.done()


async def test_a_request_before_initialize_is_an_internal_error() -> None:
    async with connected() as client:
        error = await error_of(client, "workspace/executeCommand", command("texts"))
        assert (error.code, "not available" in error.message) == (-32603, True)


async def test_a_request_after_shutdown_is_never_answered() -> None:
    async with connected() as client:
        await client.initialize()
        await client.request("shutdown")
        call = client.call("workspace/executeCommand", command("texts"))
        await asyncio.wait([call.future], timeout=0.1)
        assert not call.future.done()


async def test_a_nested_jsonrpc_key_makes_a_message_unreadable() -> None:
    async with connected() as client:
        await client.initialize()
        call = client.call("workspace/executeCommand", command("echo", {"jsonrpc": "2.0"}, 1))
        await client.wait_notification("window/showMessage")
        await round_trips(client)
        assert not call.future.done()


async def test_an_invalid_response_leaves_its_waiter_waiting() -> None:
    async with connected() as client:
        await client.initialize()
        client.answers["workspace/applyEdit"] = lambda params: {"unheard": "of"}
        call = client.call("workspace/executeCommand", command("apply"))
        await client.wait_notification("window/showMessage")
        await round_trips(client)
        assert not call.future.done()


# Corrected by converter_factory


async def test_an_enumeration_value_of_a_newer_specification_rejects_a_client() -> None:
    async with connected() as client:
        capabilities = {"workspace": {"symbol": {"symbolKind": {"valueSet": [1, 99]}}}}
        call = client.call("initialize", {"processId": None, "capabilities": capabilities})
        await client.wait_notification("window/showMessage")
        assert not call.future.done()


# Corrected by Protocol._failure and Protocol._check_handler_result


async def test_a_bug_is_answered_with_its_traceback() -> None:
    async with connected() as client:
        await client.initialize()
        error = await error_of(client, "workspace/executeCommand", command("fail"))
        assert "hunter2" in error.message
        assert "probe_server.py" in str(error.data)


async def test_a_failing_notification_shows_a_message_box() -> None:
    async with connected() as client:
        await client.initialize()
        client.notify("workspace/didChangeConfiguration", {"settings": None})
        assert "hunter2" in (await client.wait_notification("window/showMessage"))["message"]


# Corrected by Protocol._handle_response and Protocol.send_request_async


def test_a_response_to_an_abandoned_request_raises() -> None:
    protocol = stock().protocol
    abandoned: Future[Any] = Future()
    abandoned.cancel()
    protocol._request_futures["id"] = abandoned
    with pytest.raises(InvalidStateError):
        protocol._handle_response("id", None)


# Corrected by TokenKeeper


async def test_a_cancel_that_comes_with_the_creation_of_a_progress_is_lost() -> None:
    async with connected() as client:
        await client.initialize()
        waiting = asyncio.Event()
        client.answers["window/workDoneProgress/create"] = lambda params: waiting.wait()
        call = client.call("workspace/executeCommand", command("progress"))
        question = await client.wait_for(lambda m: m.get("method") == "window/workDoneProgress/create")
        client.send(
            {"jsonrpc": "2.0", "id": question["id"], "result": None},
            {"jsonrpc": "2.0", "method": "window/workDoneProgress/cancel", "params": {"token": "token"}},
        )
        await round_trips(client)
        assert not call.future.done()


def test_the_end_of_a_progress_keeps_its_token() -> None:
    progress = stock().protocol.progress
    progress.begin("token", types.WorkDoneProgressBegin("title"))
    progress.end("token", types.WorkDoneProgressEnd())
    assert "token" in progress.tokens


# Corrected by Documents


def test_lines_end_at_a_form_feed() -> None:
    document = TextDocument(URI, "a\x0cb\nline1")
    change = types.TextDocumentContentChangePartial(types.Range(types.Position(1, 0), types.Position(1, 5)), "X")
    document.apply_change(change)
    assert document.source == "a\x0cX\nline1", "the client has replaced `line1`"


def test_a_position_past_the_end_is_one_short_of_it_and_changes_the_params() -> None:
    change = types.TextDocumentContentChangePartial(types.Range(types.Position(0, 0), types.Position(0, 100)), "")
    document = TextDocument(URI, "abc", position_codec=PositionCodec())
    document.apply_change(change)
    assert (document.source, change.range.end.character) == ("c", 2)


async def test_a_change_to_a_document_that_was_never_opened_shows_a_message_box() -> None:
    async with connected() as client:
        await client.initialize()
        change = {"textDocument": {"uri": URI, "version": 2}, "contentChanges": [{"text": "x"}]}
        client.notify("textDocument/didChange", change)
        assert "KeyError" in (await client.wait_notification("window/showMessage"))["message"]


# Corrected by Protocol.lsp_initialize


async def test_the_workspace_is_always_pygls_own_and_virtual_documents_are_not_offered() -> None:
    server = stock()
    options = types.TextDocumentContentRegistrationOptions(["probe"])
    server.feature(types.WORKSPACE_TEXT_DOCUMENT_CONTENT, options)(lambda params: None)
    async with connected(server) as client:
        result = await client.initialize()
        assert "textDocumentContent" not in result["capabilities"].get("workspace", {})
        assert type(server.workspace) is Workspace


# Corrected by the command line


def test_the_argument_that_editors_append_is_unknown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["server", "--stdio"])
    with pytest.raises(SystemExit):
        start_server(stock())
    assert "--stdio" in capsys.readouterr().err


# Corrected by watchdog.py


def test_the_clients_process_is_not_watched() -> None:
    for module in (pygls.server, pygls.io_):
        assert "process_id" not in inspect.getsource(module)


# Corrected by transport.py


async def connection(port: int) -> StreamChannel:
    """pygls does not say when it listens, so its port is tried until it does."""
    while True:
        try:
            return StreamChannel(*await asyncio.open_connection("127.0.0.1", port))
        except ConnectionError:
            await asyncio.sleep(0.05)


async def test_a_second_client_over_tcp_ends_the_first() -> None:
    with held_port() as port:
        process = await asyncio.create_subprocess_exec(*ARGV, "--tcp", str(port), stderr=asyncio.subprocess.DEVNULL)
        try:
            async with RawClient.over(await connection(port)) as first:
                await first.initialize()
                first.abandon()
                async with RawClient.tcp("127.0.0.1", port) as second:
                    second.abandon()
                await first.wait_end()
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()

"""From the first byte to the exit status, with real processes and real sockets."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from support.servers import probe_server
from support.servers.channel import Channel, frame
from support.servers.probe_server import TOKEN
from support.servers.probing import command, started
from support.servers.wire import TIMEOUT, ErrorAnswer, Json, RawClient
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from stet_ls.engine.errors import UsageError
from stet_ls.server.lsp import transport

ARGV = [sys.executable, str(Path(probe_server.__file__)), "hardened"]


# Standard streams


async def test_exit_during_work_neither_waits_nor_prints() -> None:
    async with RawClient.stdio(ARGV) as client:
        await client.initialize()
        call = await started(client, "block")
        await client.request("shutdown")  # what is under way has no end of its own
        client.notify("exit")
        assert await client.wait_end() == 0
        assert "Traceback" not in client.stderr
        assert call.future.exception() is not None


async def test_exit_without_shutdown_is_an_error() -> None:
    async with RawClient.stdio(ARGV) as client:
        await client.initialize()
        client.notify("exit")
        assert await client.wait_end() == 1


async def test_the_end_of_the_input_ends_the_server() -> None:
    async with RawClient.stdio(ARGV) as client:
        await client.initialize()
        call = await started(client, "block")
        assert client.process is not None
        assert client.process.stdin is not None
        client.process.stdin.close()
        assert await client.wait_end() == 1
        with pytest.raises(ErrorAnswer, match="-32800"):
            await call


async def test_exit_before_initialize_ends_the_server() -> None:
    async with RawClient.stdio(ARGV) as client:
        client.notify("exit")
        assert await client.wait_end() == 1


async def test_headers_in_any_case_and_order_are_understood() -> None:
    async with RawClient.stdio(ARGV) as client:
        await client.initialize()
        message = {"jsonrpc": "2.0", "id": 500, "method": "workspace/executeCommand", "params": command("echo")}
        body = json.dumps(message).encode()
        client.send_bytes(
            b"content-type: application/vscode-jsonrpc; charset=utf-8\r\nX-Trace: 1\r\ncontent-length:%d\r\n\r\n%b"
            % (len(body), body)
        )
        await client.wait_for(lambda m: m.get("id") == 500 and m.get("result") == {"text": ""})
        client.problems.clear()  # the client did not know of a request 500


async def test_garbage_ends_the_session_with_a_status() -> None:
    async with RawClient.stdio(ARGV) as client:
        await client.initialize()
        client.send_bytes(b"POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}")
        assert await client.wait_end() == 1


async def test_nothing_is_sent_after_exit() -> None:
    """pygls writes megabytes of errors about errors here."""
    async with RawClient.stdio(ARGV) as client:
        await client.initialize()
        await started(client, "linger")
        client.notify("exit")
        client.abandon()
        assert await client.wait_end() == 1
        assert client.messages[-1] == {"jsonrpc": "2.0", "method": "probe/state", "params": {"state": "started"}}
        assert client.stderr == ""


async def test_the_input_is_read_while_every_worker_thread_is_busy() -> None:
    async with RawClient.stdio(ARGV) as client:
        await client.initialize()
        call = await started(client, "occupy")
        assert await client.request("workspace/executeCommand", command("echo", {"text": "a"})) == {"text": "a"}
        client.cancel(call)
        with pytest.raises(ErrorAnswer, match="-32800"):
            await call


async def test_a_signal_ends_the_server() -> None:
    async with RawClient.stdio(ARGV) as client:
        await client.initialize()
        assert client.process is not None
        client.process.terminate()
        assert await client.wait_end() == 1
        assert "Traceback" not in client.stderr


def test_a_signal_ends_a_server_whose_client_reads_nothing() -> None:
    """A full pipe holds the server's loop in a write."""
    with subprocess.Popen(ARGV, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            server.stdin.write(frame('{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"capabilities":{}}}'))
            server.stdout.read(1)
            for number in range(1, 3000):
                server.stdin.write(frame(f'{{"jsonrpc":"2.0","id":{number},"method":"nothing"}}'))
            server.terminate()
            assert server.wait(TIMEOUT) == 1
        finally:
            server.kill()


@pytest.mark.parametrize("length", [b"9" * 5000, b"-1", b"1e3", b""])
async def test_an_invalid_content_length_ends_the_session(length: bytes) -> None:
    async with RawClient.stdio(ARGV) as client:
        await client.initialize()
        client.send_bytes(b"Content-Length: " + length + b"\r\n\r\n{}")
        assert await client.wait_end() == 1
        assert "Traceback" not in client.stderr


async def test_nothing_but_frames_on_the_standard_output_and_no_input_for_children() -> None:
    async with RawClient.stdio(ARGV) as client:
        await client.initialize()
        assert await client.request("workspace/executeCommand", command("noise")) == "0"
        assert await client.request("workspace/executeCommand", command("echo", {"text": "a"})) == {"text": "a"}
    for line in ("print", "system", "write"):
        assert line in client.stderr.split()


async def test_messages_of_megabytes_are_sent_and_received() -> None:
    text = "é😀\n" * 700_000
    async with RawClient.stdio(ARGV) as client:
        await client.initialize()
        assert await client.request("workspace/executeCommand", command("echo", {"text": text})) == {"text": text}


async def test_a_message_in_single_bytes_is_understood() -> None:
    async with RawClient.stdio(ARGV) as client:
        await client.initialize()
        message = {"jsonrpc": "2.0", "id": 501, "method": "workspace/executeCommand", "params": command("echo")}
        for byte in frame(json.dumps(message)):
            client.send_bytes(bytes([byte]))
            await asyncio.sleep(0)
        await client.wait_for(lambda m: m.get("id") == 501 and m.get("result") == {"text": ""})
        client.problems.clear()  # the client did not know of a request 501


# TCP


@contextlib.asynccontextmanager
async def listening(channel: str) -> AsyncIterator[tuple[asyncio.subprocess.Process, int]]:
    """A server that waits for its client at a port."""
    process = await asyncio.create_subprocess_exec(
        *ARGV, channel, "0", stdin=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE
    )
    assert process.stderr is not None
    try:
        line = await asyncio.wait_for(process.stderr.readline(), TIMEOUT)
        found = re.search(rb"listening on (?:tcp|ws)://127\.0\.0\.1:(\d+)", line)
        assert found, line
        yield process, int(found[1])
    finally:
        if process.returncode is None:
            process.kill()
        await process.stderr.read()
        await process.wait()


async def test_a_client_over_tcp_shows_its_token_with_initialize() -> None:
    async with listening("--tcp") as (process, port):
        async with RawClient.tcp("127.0.0.1", port) as client:
            await client.initialize(initializationOptions={"token": TOKEN, "settings": {}})
            assert await client.request("workspace/executeCommand", command("echo", {"text": "a"})) == {"text": "a"}
        assert await asyncio.wait_for(process.wait(), TIMEOUT) == 0


async def test_a_client_over_tcp_that_leaves_ends_the_server() -> None:
    async with listening("--tcp") as (process, port):
        async with RawClient.tcp("127.0.0.1", port) as client:
            await client.initialize(initializationOptions={"token": TOKEN})
            await started(client, "block")
            client.abandon()
        assert await asyncio.wait_for(process.wait(), TIMEOUT) == 1


@pytest.mark.parametrize(
    "params",
    [
        {"initializationOptions": {"token": "wrong"}},
        {"initializationOptions": {"token": 7}},
        {"initializationOptions": {"token": ""}},
        {"initializationOptions": None},
        {},
    ],
)
async def test_a_client_without_the_token_is_refused_and_the_right_one_accepted(params: dict[str, Any]) -> None:
    async with listening("--tcp") as (_process, port):
        async with RawClient.tcp("127.0.0.1", port) as stranger:
            call = stranger.call("initialize", {"processId": None, "capabilities": {}, **params})
            refusal = await stranger.wait_for(lambda m: "error" in m)
            assert "token" in refusal["error"]["message"]
            await stranger.wait_end()
            assert "result" not in str(call.future)
            stranger.abandon()
        async with RawClient.tcp("127.0.0.1", port) as client:
            await client.initialize(initializationOptions={"token": TOKEN})


@pytest.mark.parametrize(
    "data",
    [
        b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\n\r\n{}",
        b"Content-Length: 99999999999\r\n\r\n",
        b"Content-Length: 2\r\n\r\n[]",
        b"x" * 100_000,
        b"",
    ],
)
async def test_bytes_that_are_not_the_protocol_are_refused(data: bytes) -> None:
    async with listening("--tcp") as (_process, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(data)
        if not data:
            writer.write_eof()
        with contextlib.suppress(ConnectionError):
            assert b"result" not in await asyncio.wait_for(reader.read(), TIMEOUT)
        writer.close()
        async with RawClient.tcp("127.0.0.1", port) as client:
            await client.initialize(initializationOptions={"token": TOKEN})


async def test_a_second_client_is_refused_without_affecting_the_first() -> None:
    async with listening("--tcp") as (process, port):
        async with RawClient.tcp("127.0.0.1", port) as first:
            await first.initialize(initializationOptions={"token": TOKEN})
            async with RawClient.tcp("127.0.0.1", port) as second:
                with pytest.raises(ErrorAnswer, match="already has a client"):
                    await second.initialize(initializationOptions={"token": TOKEN})
                await second.wait_end()
            assert await first.request("workspace/executeCommand", command("echo", {"text": "a"})) == {"text": "a"}
        assert await asyncio.wait_for(process.wait(), TIMEOUT) == 0


async def test_a_server_without_a_client_can_be_ended() -> None:
    async with listening("--tcp") as (process, _):
        process.terminate()
        assert await asyncio.wait_for(process.wait(), TIMEOUT) == 1


@pytest.mark.parametrize("serve", [transport.serve_tcp, transport.serve_ws])
@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "no.such.host.invalid"])
def test_only_loopback_is_listened_on(serve: Any, host: str) -> None:
    with pytest.raises(UsageError, match=r"127\.0\.0\.1"):
        serve(probe_server.hardened(), host, 0, TOKEN)


@pytest.mark.parametrize("serve", [transport.serve_tcp, transport.serve_ws])
def test_a_socket_without_a_token_is_refused(serve: Any) -> None:
    with pytest.raises(UsageError, match="token"):
        serve(probe_server.hardened(), "127.0.0.1", 0, "")


# WebSocket


class SocketChannel(Channel):
    """One message of the protocol in each frame of a WebSocket."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._sending: set[asyncio.Task[None]] = set()

    async def receive(self) -> Json | None:
        try:
            text = await self._connection.recv()
        except ConnectionClosed:
            return None
        assert isinstance(text, str)
        message: Json = json.loads(text)
        return message

    def send_body(self, body: str) -> None:
        task = asyncio.ensure_future(self._connection.send(body))
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)

    async def close(self) -> None:
        await self._connection.close()


async def test_a_client_over_websocket_with_the_token_in_a_header() -> None:
    async with listening("--ws") as (process, port):
        connection = await connect(
            f"ws://127.0.0.1:{port}", additional_headers={"Authorization": f"Bearer {TOKEN}"}, max_size=None
        )
        async with RawClient.over(SocketChannel(connection)) as client:
            await client.initialize()
            text = "é😀" * 100_000
            assert await client.request("workspace/executeCommand", command("echo", {"text": text})) == {"text": text}
        assert await asyncio.wait_for(process.wait(), TIMEOUT) == 0


async def test_a_page_of_this_machine_with_the_token_in_the_url() -> None:
    async with listening("--ws") as (process, port):
        url = f"ws://127.0.0.1:{port}/?token={TOKEN.replace(' ', '%20')}"
        connection = await connect(url, origin="http://localhost:3000")  # type: ignore[arg-type]
        async with RawClient.over(SocketChannel(connection)) as client:
            await client.initialize()
            client.abandon()
        assert await asyncio.wait_for(process.wait(), TIMEOUT) == 1


@pytest.mark.parametrize(
    ("url", "options", "status"),
    [
        ("/", {}, 401),
        ("/?token=wrong", {}, 401),
        ("/", {"additional_headers": {"Authorization": "Bearer wrong"}}, 401),
        ("/?token=open%20sesame", {"origin": "https://evil.example"}, 403),
        ("/?token=open%20sesame", {"origin": "null"}, 403),
        ("/?token=open%20sesame", {"origin": "http://localhost.evil.example"}, 403),
    ],
)
async def test_websocket_clients_without_permission_are_refused(url: str, options: dict[str, Any], status: int) -> None:
    async with listening("--ws") as (_process, port):
        with pytest.raises(InvalidStatus) as caught:
            await connect(f"ws://127.0.0.1:{port}{url}", **options)
        assert caught.value.response.status_code == status


async def test_a_second_client_over_websocket_is_refused() -> None:
    async with listening("--ws") as (_process, port):
        url = f"ws://127.0.0.1:{port}/?token=open%20sesame"
        async with RawClient.over(SocketChannel(await connect(url))) as first:
            await first.initialize()
            with pytest.raises(InvalidStatus) as caught:
                await connect(url)
            assert caught.value.response.status_code == 503
            assert await first.request("workspace/executeCommand", command("echo", {"text": "a"})) == {"text": "a"}

"""Runs the session over standard streams, TCP or WebSocket, from its first byte to the exit status.

Sockets are for debugging, for editors that connect rather than start a server, and for pages in a local browser. They
are on loopback only and require a token, because every process and every web page of the machine can reach them:

- TCP: the first message has to be `initialize` with the token as `initializationOptions.token`. That is the one field
  that users can set in the editors that connect by TCP (Neovim `init_options`, Emacs `:initializationOptions`,
  VS Code `initializationOptions`); none of them can send a separate line before the protocol begins.
- WebSocket: `Authorization: Bearer TOKEN`, or `?token=TOKEN` in the URL for browsers, which cannot set headers there.
  An `Origin`, if present, has to be loopback too.

A server serves one client and ends with it. Further clients are rejected without affecting the first.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import ipaddress
import json
import logging
import os
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import parse_qs, urlsplit

from pygls.lsp.server import LanguageServer

from stet_ls.engine.errors import UsageError
from stet_ls.server.lsp.main_loop import LARGEST_MESSAGE, FrameError, read_body, run, run_messages
from stet_ls.server.lsp.protocol import Protocol

if TYPE_CHECKING:
    from websockets.asyncio.server import ServerConnection
    from websockets.http11 import Request, Response

LOGGER = logging.getLogger(__name__)

LARGEST_FIRST_MESSAGE = 1 << 20
"""Bytes that a client without a token may make the server hold."""
ADMISSION_SECONDS = 10.0
"""Limit for a connection to send its token."""

_CHUNK = 1 << 16

# Standard streams ----------------------------------------------------------------------------------------------------


def serve_stdio(server: LanguageServer) -> int:
    """Serves the client at the other end of the standard streams, and returns the exit status.

    The watched process is `server.process_id`, which `initialize` sets and the command line may set before.
    """
    incoming, outgoing = guard_stdio()
    protocol = cast(Protocol, server.protocol)

    async def session() -> None:
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader()
        threading.Thread(target=_pump, args=(incoming, loop, reader), name="standard input", daemon=True).start()
        protocol.set_writer(cast(Any, _DescriptorWriter(outgoing)))
        await run_messages(protocol, lambda: read_body(reader))

    return run(protocol, session(), lambda: server.process_id)


def guard_stdio() -> tuple[int, int]:
    """Replaces the standard streams, and returns the descriptors of the real ones.

    Afterwards all output, from Python, C or a child process, goes to standard error; all input is empty. A child that
    inherited the real standard input would read bytes of the protocol.
    """
    incoming, outgoing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    sys.stdout.flush()
    os.dup2(2, 1)
    for descriptor in (incoming, outgoing):
        os.set_blocking(descriptor, True)
    return incoming, outgoing


def _pump(descriptor: int, loop: asyncio.AbstractEventLoop, reader: asyncio.StreamReader) -> None:
    """Moves bytes into the loop, from a separate thread: pygls' reader waits behind slow handlers.

    Reads the bare descriptor: a daemon thread inside of a buffered reader would abort the interpreter at its exit.
    """
    chunk = b"more"
    with contextlib.suppress(RuntimeError):  # the loop is closed: nothing reads any more
        while chunk:
            try:
                chunk = os.read(descriptor, _CHUNK)
            except OSError:
                chunk = b""
            if chunk:
                loop.call_soon_threadsafe(reader.feed_data, chunk)
        loop.call_soon_threadsafe(reader.feed_eof)


class _DescriptorWriter:
    """Writes whole messages to a descriptor."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._descriptor, view) :]


# TCP -----------------------------------------------------------------------------------------------------------------


def serve_tcp(server: LanguageServer, host: str, port: int, token: str) -> int:
    """Serves one client that connects to a local port and has the token. Returns the exit status."""
    protocol = cast(Protocol, server.protocol)
    addresses = _loopback(host, token)
    slot = _ClientSlot()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            message = await asyncio.wait_for(_admitted(reader, writer, token), ADMISSION_SECONDS)
            if message is None:
                return
            if not slot.is_free:
                _answer_error(writer, message["id"], "The server already has a client.")
                return
            with slot.taken():
                protocol.set_writer(cast(Any, writer))
                protocol.dispatch(message)
                await run_messages(protocol, lambda: read_body(reader))
        except (FrameError, TimeoutError) as error:
            LOGGER.warning("rejected a connection: %s", error or "no message in time")
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def session() -> None:
        listener = await asyncio.start_server(connected, addresses, port)
        _announce("tcp", listener.sockets)
        await slot.until_left(protocol)
        listener.close()

    return run(protocol, session(), _fixed(server.process_id))


async def _admitted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, token: str) -> dict[str, Any] | None:
    """The first message without its token, if the token is right; else None, after an error to the client."""
    body = await read_body(reader, LARGEST_FIRST_MESSAGE)
    try:
        message = json.loads(body or b"")
        options = message["params"]["initializationOptions"]
        shown = options.pop("token")
        fits = message["method"] == "initialize" and _same(shown, token) and message["id"] is not None
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        fits = False
    if fits:
        return cast(dict[str, Any], message)
    _answer_error(writer, None, "The first message must be `initialize` with initializationOptions.token.")
    LOGGER.warning("rejected a connection with a wrong token")
    return None


def _answer_error(writer: asyncio.StreamWriter, request_id: Any, message: str) -> None:
    error = {"jsonrpc": "2.0", "id": request_id, "error": {"code": -32600, "message": message}}
    body = json.dumps(error).encode()
    writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))


# WebSocket -----------------------------------------------------------------------------------------------------------


def serve_ws(server: LanguageServer, host: str, port: int, token: str) -> int:
    """Serves one client that connects locally by WebSocket and has the token. Returns the exit status."""
    try:
        from websockets.asyncio.server import serve
        from websockets.exceptions import ConnectionClosed
    except ImportError as error:
        from stet_ls.validators.install_hints import install_command

        raise UsageError(f"--ws needs the package websockets: {install_command('ws')}") from error
    logging.getLogger("websockets").setLevel(logging.WARNING)  # below that it logs every frame, and URLs with tokens
    protocol = cast(Protocol, server.protocol)
    addresses = _loopback(host, token)
    slot = _ClientSlot()

    def admit(connection: ServerConnection, request: Request) -> Response | None:
        if not _is_local_origin(request.headers.get("Origin")):
            return connection.respond(403, "Requests from other origins are rejected.\n")
        if not _same(_shown_token(request), token):
            return connection.respond(401, "Token required: Authorization: Bearer TOKEN, or ?token=TOKEN.\n")
        return None if slot.is_free else connection.respond(503, "The server already has a client.\n")

    async def connected(connection: ServerConnection) -> None:
        if not slot.is_free:
            return
        writer = _SocketWriter(connection)

        async def next_body() -> bytes | str | None:
            try:
                return await connection.recv()
            except ConnectionClosed:
                return None

        with slot.taken():
            protocol.set_writer(cast(Any, writer), include_headers=False)
            await run_messages(protocol, next_body)
            await writer.finish()

    async def session() -> None:
        hosts = cast(Any, addresses)
        async with serve(connected, hosts, port, process_request=admit, max_size=LARGEST_MESSAGE) as listener:
            _announce("ws", listener.sockets)
            await slot.until_left(protocol)

    return run(protocol, session(), _fixed(server.process_id))


class _SocketWriter:
    """Sends messages one after the other; the protocol does not wait for them."""

    def __init__(self, connection: ServerConnection) -> None:
        self._connection = connection
        self._queue: asyncio.Queue[str | None] = asyncio.Queue()
        self._task = asyncio.create_task(self._send())

    def write(self, data: bytes) -> None:
        self._queue.put_nowait(data.decode())

    async def finish(self) -> None:
        """Sends what is queued, and closes."""
        self._queue.put_nowait(None)
        await self._task
        await self._connection.close()

    async def _send(self) -> None:
        from websockets.exceptions import ConnectionClosed

        with contextlib.suppress(ConnectionClosed):
            while (text := await self._queue.get()) is not None:
                await self._connection.send(text)


def _shown_token(request: Request) -> str:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return token.strip()
    return parse_qs(urlsplit(request.path).query).get("token", [""])[0]


def _is_local_origin(origin: str | None) -> bool:
    if origin is None:
        return True
    try:
        host = urlsplit(origin).hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


# Shared by both sockets ----------------------------------------------------------------------------------------------


class _ClientSlot:
    """The single slot for a client."""

    def __init__(self) -> None:
        self.is_free = True
        self._left = asyncio.Event()

    @contextlib.contextmanager
    def taken(self) -> Iterator[None]:
        """Takes the slot; it is never released, since the server ends with its client."""
        self.is_free = False
        try:
            yield
        finally:
            self._left.set()

    async def until_left(self, protocol: Protocol) -> None:
        """Returns when the client disconnects, or when the server stops before one connects."""
        await protocol.exited.wait()
        if not self.is_free:
            await self._left.wait()


def _fixed(process_id: int | None) -> Callable[[], int | None]:
    return lambda: process_id


def _same(shown: object, token: str) -> bool:
    return isinstance(shown, str) and hmac.compare_digest(shown.encode("utf-8", "replace"), token.encode())


def _loopback(host: str, token: str) -> list[str]:
    """The addresses of a host name, all of them loopback. UsageError for any other, and for an empty token."""
    if not token:
        raise UsageError("a socket needs a token; without one every user of this machine could use it")
    try:
        found = {str(info[4][0]) for info in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)}
    except OSError as error:
        raise UsageError(f"unknown host {host}; try 127.0.0.1") from error
    if not all(ipaddress.ip_address(address).is_loopback for address in found):
        raise UsageError(f"{host} is reachable from other machines; use 127.0.0.1, ::1 or localhost")
    return sorted(found)


def _announce(scheme: str, sockets: Any) -> None:
    for each in sockets:
        host, port = each.getsockname()[:2]
        shown = f"[{host}]" if ":" in host else host
        print(f"stet: listening on {scheme}://{shown}:{port}", file=sys.stderr, flush=True)

"""One session with a client over any transport: from the first message to the end of all work."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import signal
import sys
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import CancelledError
from typing import Any

from stet_ls.server.lsp.protocol import Protocol
from stet_ls.server.lsp.watchdog import ANSWER_SECONDS, ClientWatch, end_soon

LOGGER = logging.getLogger(__name__)

LARGEST_MESSAGE = 1 << 28
"""In bytes; more than any real document."""

_HEADER = re.compile(rb"([A-Za-z-]+): *([^\r\n]*)\r?\n")
_LENGTH = re.compile(rb"\d{1,12}")  # `int` raises ValueError for thousands of digits

NextBody = Callable[[], Awaitable[bytes | str | None]]
"""Returns the body of the next message; None at the end of the session."""


class FrameError(Exception):
    """The bytes are not a message of the protocol; the start of the next one cannot be found."""


async def run_messages(protocol: Protocol, next_body: NextBody) -> None:
    """Passes messages to the protocol until its client sends `exit` or is gone, then ends all work."""
    listening = asyncio.create_task(_listen(protocol, next_body))
    exited = asyncio.create_task(protocol.exited.wait())
    try:
        await asyncio.wait({listening, exited}, return_when=asyncio.FIRST_COMPLETED)
        await protocol.end_work()
    finally:
        protocol.close()
        for task in (listening, exited):
            task.cancel()
        await asyncio.gather(listening, exited, return_exceptions=True)


async def _listen(protocol: Protocol, next_body: NextBody) -> None:
    try:
        while not protocol.exited.is_set() and (body := await next_body()) is not None:
            try:
                protocol.receive(body)
            except Exception:
                # One message must not end the session.
                LOGGER.exception("cannot handle a message")
            # Handlers that just started run to their first await, and responses reach their waiters, before the next
            # message: a command works on the text that the user saw.
            await asyncio.sleep(0)
    except FrameError as error:
        LOGGER.error("invalid message stream: %s", error)


async def read_body(reader: asyncio.StreamReader, largest: int = LARGEST_MESSAGE) -> bytes | None:
    """The body of the next message in LSP's framing; None at the end. FrameError if it is invalid.

    Unknown headers are skipped. A line that is not a header ends the session: a web page can make a browser send a
    request whose body looks like a message.
    """
    length: int | None = None
    try:
        while (line := await reader.readuntil(b"\n")).strip():
            if (header := _HEADER.fullmatch(line)) is None:
                raise FrameError("expected a header such as `Content-Length: 123`")
            if header[1].lower() == b"content-length":
                length = int(header[2]) if _LENGTH.fullmatch(header[2]) else None
        if length is None or length > largest:
            raise FrameError("no valid Content-Length")
        return await reader.readexactly(length)
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    except asyncio.LimitOverrunError as error:
        raise FrameError("unterminated header line") from error


def run(protocol: Protocol, session: Coroutine[Any, Any, None], process_id: Callable[[], int | None]) -> int:
    """Runs a session until it ends or the client's process does, and returns the exit status."""

    async def watched() -> None:
        loop = asyncio.get_running_loop()

        def asked_to_end(*_: object) -> None:
            # Not by the event loop, which may be stuck in a write that the client does not read.
            end_soon(protocol.exit_status)
            with contextlib.suppress(RuntimeError):  # the loop is closed: the server is ending already
                loop.call_soon_threadsafe(protocol.close)

        if sys.platform != "win32":
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, asked_to_end)

        def answers() -> bool:
            asked = asyncio.run_coroutine_threadsafe(protocol.is_answered(), loop)
            try:
                return asked.result(ANSWER_SECONDS)
            except (TimeoutError, CancelledError):
                asked.cancel()
                return False

        watch = ClientWatch(process_id, lambda: loop.call_soon_threadsafe(protocol.close), answers=answers)
        watch.start()
        try:
            await session
        finally:
            watch.stop()
            # The cleanup below can hang: tasks that swallow their cancellation, threads that never return.
            end_soon(protocol.exit_status)

    asyncio.run(watched())
    return protocol.exit_status

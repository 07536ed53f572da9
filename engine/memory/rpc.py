"""The worker's protocol: lines of JSON on loopback, with many concurrent requests on one connection.

user  -> child    {"nonce": N}                        both prove that they know the worker's key, as for a lease
child -> user     {"nonce": M, "proof": P}
user  -> child    {"proof": Q}
user  -> child    {"id": 1, "op": "search", "query": ...}
child -> user     {"id": 1, "progress": [done, total]}    for what takes long
child -> user     {"id": 1, "result": ...}    or    {"id": 1, "fault": F, "message": sentence}
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from stet_ls.engine.errors import StoreError, StoreFault
from stet_ls.engine.workers.handshake import LOOPBACK, greet, introduce, read_line, write_line

_log = logging.getLogger(__name__)

LIMIT = 64 * 1024 * 1024
"""Longest line in bytes: an export of ten thousand solutions is a third of it."""
_GREETING_SECONDS = 15.0

OnProgress = Callable[[int, int], None]
Answer = Callable[[str, Mapping[str, Any], OnProgress], Awaitable[Any]]
"""Performs an operation with its fields; returns plain JSON."""


def _ignore(done: int, total: int) -> None:
    """An OnProgress for callers that do not watch."""


class RpcConnection:
    """One connection to the worker. If it breaks, every pending request gets a StoreError (unavailable)."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._waiting: dict[int, tuple[asyncio.Future[Any], OnProgress]] = {}
        self._count = 0
        self._broken = False
        self._listening = asyncio.create_task(self._listen())

    @classmethod
    async def open(cls, port: int, key: str) -> RpcConnection:
        """A connection to the worker on a port. Raises StoreError if it is missing or another program."""
        writer = None
        try:
            async with asyncio.timeout(_GREETING_SECONDS):
                reader, writer = await asyncio.open_connection(LOOPBACK, port, limit=LIMIT)
                if not await introduce(key, reader, writer):
                    raise OSError("it does not know its key")
        except (TimeoutError, OSError) as error:
            if writer is not None:
                writer.close()
            raise _gone() from error
        return cls(reader, writer)

    @property
    def broken(self) -> bool:
        """True once the worker is gone."""
        return self._broken

    async def ask(self, op: str, fields: Mapping[str, Any], on_progress: OnProgress = _ignore) -> Any:
        """The result of an operation. Raises StoreError if it failed, or the worker is gone."""
        if self._broken:
            raise _gone()
        self._count += 1
        number = self._count
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[number] = (future, on_progress)
        try:
            write_line(self._writer, {**fields, "id": number, "op": op})
            return await future
        finally:
            self._waiting.pop(number, None)

    async def close(self) -> None:
        """Closes the connection."""
        self._listening.cancel()
        self._break()
        self._writer.close()
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()

    async def _listen(self) -> None:
        while (line := await read_line(self._reader)) is not None:
            future, on_progress = self._waiting.get(line.get("id", 0), (None, _ignore))
            if future is None or future.done():
                continue  # the caller gave up
            if "progress" in line:
                on_progress(*line["progress"])
            elif "fault" in line:
                future.set_exception(StoreError(line["message"], fault=StoreFault(line["fault"])))
            else:
                future.set_result(line.get("result"))
        self._break()

    def _break(self) -> None:
        self._broken = True
        for future, _ in self._waiting.values():
            if not future.done():
                future.set_exception(_gone())


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, key: str, answer: Answer) -> None:
    """The worker's side of one connection, from the first line to the last."""
    tasks: set[asyncio.Task[None]] = set()
    try:
        async with asyncio.timeout(_GREETING_SECONDS):
            known = await greet(key, reader, writer)
        while known and (line := await read_line(reader)) is not None:
            task = asyncio.create_task(_answer(line, writer, answer))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
    except (TimeoutError, OSError):
        pass
    finally:
        # Started operations are finished: a store operation completes even without a waiting client.
        writer.close()


async def _answer(line: Mapping[str, Any], writer: asyncio.StreamWriter, answer: Answer) -> None:
    number = line.get("id")

    def on_progress(done: int, total: int) -> None:
        write_line(writer, {"id": number, "progress": [done, total]})

    try:
        result = await answer(str(line.get("op")), line, on_progress)
        write_line(writer, {"id": number, "result": result})
    except StoreError as error:
        write_line(writer, {"id": number, "fault": error.fault.value, "message": str(error)})
    except Exception as error:  # noqa: BLE001  # one request must not end the worker; its log has the rest
        _log.exception("the request %s failed", line.get("op"))
        message = f"The memory failed ({type(error).__name__}); see its log."
        write_line(writer, {"id": number, "fault": StoreFault.UNAVAILABLE.value, "message": message})


def _gone() -> StoreError:
    return StoreError("The memory's process ended. The next use starts it again.")

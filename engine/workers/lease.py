"""A lease: the open connection that keeps a child alive."""

from __future__ import annotations

import asyncio
import contextlib

from stet_ls.engine.workers.handshake import LINE_LIMIT, LOOPBACK, Handshake, introduce, read_line, write_line

_ANSWER_SECONDS = 15.0
"""For one answer of a child. It may wait for a processor, but does nothing else on this port."""


class Lease:
    """Keeps a child alive until it is closed or its holder ends."""

    def __init__(self, handshake: Handshake, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.pid = handshake.pid
        self.info = handshake.info
        self._reader = reader
        self._writer = writer
        self._touches = 0

    async def touch(self) -> bool:
        """True if the child is there. It then stays for at least another idle period."""
        self._touches += 1
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                write_line(self._writer, {"touch": self._touches})
                while (line := await read_line(self._reader)) is not None:
                    # An earlier touch may have been cancelled before its answer came.
                    if line.get("touch") == self._touches:
                        return True
        except (TimeoutError, OSError):
            pass
        return False

    async def close(self) -> None:
        """Releases the child, which exits soon if it has no other leases."""
        self._writer.close()
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()


async def connect(handshake: Handshake) -> Lease | None:
    """A lease on the child of a handshake; None if it is gone, or if another process now has its port."""
    try:
        async with asyncio.timeout(_ANSWER_SECONDS):
            reader, writer = await asyncio.open_connection(LOOPBACK, handshake.port, limit=LINE_LIMIT)
    except (TimeoutError, OSError):
        return None
    lease = Lease(handshake, reader, writer)
    welcome = False
    try:
        async with asyncio.timeout(_ANSWER_SECONDS):
            known = await introduce(handshake.key, reader, writer)
            welcome = known and await read_line(reader) == {"welcome": True}
    except (TimeoutError, OSError):
        pass
    finally:
        if not welcome:
            writer.close()
    return lease if welcome else None

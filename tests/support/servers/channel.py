"""Whole messages over a connection: LSP's framing, and the errors that either side answers."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from typing import Any, cast

Json = dict[str, Any]

_HEADER = re.compile(rb"(Content-Length|Content-Type): ([^\r\n]*)\r\n")


class ErrorAnswer(Exception):
    """An error answered to a request, by either side."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.data = data


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

"""The protocol between a child and its users: one handshake line, then lines of JSON on the control port.

    child  -> starter   {"pid", "port", "key", "info"}      once, on standard output
    user   -> child     {"nonce": N}
    child  -> user      {"nonce": M, "proof": HMAC(key, "child" N)}
    user   -> child     {"proof": HMAC(key, "user" M)}
    child  -> user      {"welcome": true}                    the lease begins
    user   -> child     {"touch": I}  ->  {"touch": I}       whenever it is about to use the child

Both sides prove that they know the key and neither sends it: a process that reuses a dead child's port learns nothing.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

LOOPBACK = "127.0.0.1"
LINE_LIMIT = 65536
"""Longest line in bytes; a child's announcement is a few hundred."""


@dataclass(frozen=True, slots=True)
class Handshake:
    """How to reach a child. `info` is the child's description; it may hold keys, so it is never printed."""

    pid: int
    port: int
    key: str = field(repr=False)
    info: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def to_json(self) -> str:
        """One line."""
        return json.dumps(asdict(self))

    @classmethod
    def parse(cls, text: str) -> Handshake | None:
        """The handshake in a line or a state file; None if it is not one."""
        try:
            fields = json.loads(text)
            return cls(int(fields["pid"]), int(fields["port"]), str(fields["key"]), dict(fields["info"]))
        except (ValueError, TypeError, KeyError):
            return None


def new_key() -> str:
    """A random key."""
    return secrets.token_hex(32)


def new_nonce() -> str:
    """A number used once."""
    return secrets.token_hex(16)


def proof(key: str, speaker: Literal["child", "user"], nonce: str) -> str:
    """Shows that `speaker` knows the key. The proof includes the speaker, so it cannot be sent back as one's own."""
    return hmac.new(key.encode(), f"{speaker} {nonce}".encode(), "sha256").hexdigest()


def proves(claim: object, key: str, speaker: Literal["child", "user"], nonce: str) -> bool:
    """True if `claim` is the speaker's proof."""
    return isinstance(claim, str) and hmac.compare_digest(claim.encode(), proof(key, speaker, nonce).encode())


def write_line(writer: asyncio.StreamWriter, fields: Mapping[str, Any]) -> None:
    """Sends one line; it is small, so nothing waits for the buffer to drain."""
    writer.write(json.dumps(fields).encode() + b"\n")


async def read_line(reader: asyncio.StreamReader) -> dict[str, Any] | None:
    """The fields of the next line; None at the end of the connection, or for a line outside of the protocol."""
    try:
        fields = json.loads(await reader.readline())
    except (ValueError, OSError):  # ValueError: not JSON (the end is an empty line), or longer than the limit
        return None
    return fields if isinstance(fields, dict) else None


async def introduce(key: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    """The user's side of the greeting: True if the child knows the key; then it was sent our proof."""
    nonce = new_nonce()
    write_line(writer, {"nonce": nonce})
    answer = await read_line(reader)
    if answer is None or not proves(answer.get("proof"), key, "child", nonce):
        return False
    write_line(writer, {"proof": proof(key, "user", str(answer.get("nonce")))})
    return True


async def greet(key: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    """The child's side: True if the other side proved that it knows the key."""
    hello = await read_line(reader)
    if hello is None or not isinstance(hello.get("nonce"), str):
        return False
    nonce = new_nonce()
    write_line(writer, {"nonce": nonce, "proof": proof(key, "child", hello["nonce"])})
    answer = await read_line(reader)
    return answer is not None and proves(answer.get("proof"), key, "user", nonce)

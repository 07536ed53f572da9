"""Whether a model server that was merely found on this machine may have the user's code: asked once for each.

Whoever is first to listen on a well-known port would get it else. An endpoint that the user configured needs no
question, and neither does the embedded model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from stet_ls.engine.model.port_owner import is_somebody_else, owner_of
from stet_ls.engine.storage import private_table


class Consent(Enum):
    """What its user said of a server."""

    ALLOWED = "allowed"
    DENIED = "denied"
    UNASKED = "unasked"
    FOREIGN = "foreign"
    """Nobody said anything, and another person of this machine runs it: that is not even asked."""


@dataclass(frozen=True, slots=True)
class FoundServer:
    """A server that was found. `owner` is the user id of its process, None where that cannot be known."""

    name: str
    base_url: str
    owner: int | None

    @property
    def port(self) -> int:
        """Its port."""
        return urlsplit(self.base_url).port or 0


class ServerAsker(Protocol):
    """Somebody who can ask the user."""

    async def server(self, found: FoundServer) -> bool | None:
        """Whether it may have the user's code; None if there was no answer."""


class Consents:
    """What was answered, in a file of the user's data folder. A yes is for the process' owner of that time."""

    def __init__(self, path: Path, *, owner: Callable[[int], int | None] = owner_of) -> None:
        self._path = path
        self._owner = owner

    def found(self, name: str, base_url: str) -> FoundServer:
        """The server that listens there now."""
        return FoundServer(name, base_url, self._owner(urlsplit(base_url).port or 0))

    def of(self, server: FoundServer) -> Consent:
        """What was said of it."""
        match private_table.read(self._path).get(server.base_url):
            case {"allowed": True, "owner": owner} if server.owner in (
                owner,
                None,
            ):  # None: it is gone, as will be told
                return Consent.ALLOWED
            case {"allowed": False}:
                return Consent.DENIED
        return Consent.FOREIGN if is_somebody_else(server.owner) else Consent.UNASKED

    def remember(self, server: FoundServer, *, allowed: bool) -> None:
        """Writes an answer down. Raises StetError if it cannot be written."""
        answer = {"allowed": allowed, "owner": server.owner}
        private_table.write(self._path, {**private_table.read(self._path), server.base_url: answer})

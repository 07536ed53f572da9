"""Whether a discovered model server on this machine may have the user's code: asked once for each.

Otherwise the first process on a well-known port would get it. An endpoint that the user configured needs no question,
nor does the embedded model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from stet_ls.engine.model.port_owner import is_another_user, owner_of
from stet_ls.engine.storage import private_table


class ServerConsent(Enum):
    """The user's answer about a server."""

    ALLOWED = "allowed"
    DENIED = "denied"
    UNASKED = "unasked"
    FOREIGN = "foreign"
    """No answer, and another user of this machine runs it: there is no question."""


@dataclass(frozen=True, slots=True)
class FoundServer:
    """A discovered server. `owner` is the user id of its process, None if unknown."""

    name: str
    base_url: str
    owner: int | None


class ServerAsker(Protocol):
    """A front end that can ask the user."""

    async def server(self, found: FoundServer) -> bool | None:
        """Whether it may have the user's code; None if there was no answer."""


class ServerConsents:
    """The answers, in a file of the user's data folder. A yes is for the process's owner at that time."""

    def __init__(self, path: Path, *, owner: Callable[[int], int | None] = owner_of) -> None:
        self._path = path
        self._owner = owner

    def found(self, name: str, base_url: str) -> FoundServer:
        """The server that listens there now."""
        return FoundServer(name, base_url, self._owner(urlsplit(base_url).port or 0))

    def of(self, server: FoundServer) -> ServerConsent:
        """The answer about it."""
        match private_table.read(self._path).get(server.base_url):
            # None: it is gone, which a later message reports.
            case {"allowed": True, "owner": owner} if server.owner in (owner, None):
                return ServerConsent.ALLOWED
            case {"allowed": False}:
                return ServerConsent.DENIED
        return ServerConsent.FOREIGN if is_another_user(server.owner) else ServerConsent.UNASKED

    def remember(self, server: FoundServer, *, allowed: bool) -> None:
        """Stores an answer. Raises StetError if it cannot be written."""
        answer = {"allowed": allowed, "owner": server.owner}
        private_table.write(self._path, {**private_table.read(self._path), server.base_url: answer})

"""The server object: state belongs to the rooms."""

from __future__ import annotations

from functools import cached_property

from stet_ls.server.lsp.client_connection import ClientConnection
from stet_ls.server.session import StetServer

MOST = 20


def test_the_server_object_is_small() -> None:
    own = {name for name in vars(StetServer) if not name.startswith("__")}
    own |= vars(StetServer()).keys() - vars(ClientConnection()).keys()

    assert len(own) < MOST, f"give state to the room that owns it: {sorted(own)}"


def test_what_needs_the_engine_waits_for_the_handshake() -> None:
    late = {name for name, member in vars(StetServer).items() if isinstance(member, cached_property)}

    assert not late & vars(StetServer()).keys()

"""The owner of the process that listens on a port of this machine. Any user may take a free well-known port."""

from __future__ import annotations

import os
import re
from pathlib import Path

_LISTENING = "0A"
"""proc_net_tcp(5): the state of a listening socket."""

_ADDRESSES = ("0100007F", "00000000", "0000000000000000FFFF00000100007F", "0" * 32)
"""The addresses that answer at 127.0.0.1, the most specific first: itself, any IPv4 address, both again over IPv6."""

_FIRST_PERSON = 1000
"""login.defs(5), UID_MIN: below are the accounts of services, which an administrator starts."""


def owner_of(port: int) -> int | None:
    """The user id of the process that listens at 127.0.0.1:`port`; None if unknown (not Linux)."""
    owners: dict[str, int] = {}
    for name in ("tcp", "tcp6"):
        try:
            lines = Path(f"/proc/net/{name}").read_text(encoding="ascii").splitlines()[1:]
        except (OSError, ValueError):
            continue
        for fields in map(str.split, lines):
            address, _, number = fields[1].partition(":")
            if fields[3] == _LISTENING and int(number, 16) == port:
                owners.setdefault(address, int(fields[7]))
    return next((owners[address] for address in _ADDRESSES if address in owners), None)


def is_another_user(owner: int | None) -> bool:
    """True for another user of this machine, not for a service account."""
    return owner is not None and owner != os.getuid() and owner >= _first_person()


def _first_person() -> int:
    try:
        found = re.search(r"^\s*UID_MIN\s+(\d+)", Path("/etc/login.defs").read_text(encoding="utf-8"), re.M)
    except (OSError, ValueError):
        found = None
    return int(found[1]) if found else _FIRST_PERSON

"""Asks on the terminal whether a discovered model server may receive the user's code, and stores such answers."""

from __future__ import annotations

import asyncio
import os
import sys
from urllib.parse import urlsplit

from stet_ls.engine.errors import UsageError
from stet_ls.engine.model.discover import PORTS
from stet_ls.engine.model.local_server_consent import FoundServer, ServerConsents
from stet_ls.engine.storage.paths import user_paths
from stet_ls.server.cli.terminal import render
from stet_ls.server.consent.permissions import user_name


class Terminal:
    """The user at the terminal, if standard input is one."""

    async def server(self, found: FoundServer) -> bool | None:
        """Asks one question on standard error; None without a terminal."""
        whose = "" if found.owner is None else f", run by the user {user_name(found.owner)}"
        question = (
            f"No model is configured. Send your code to the model server {found.name} at {found.base_url}{whose}?"
        )
        reply = await ask_line(f"{question} [y/N]")
        return None if reply is None else reply.lower() in ("y", "yes")


async def ask_line(question: str) -> str | None:
    """The user's reply to a question on standard error; None without a terminal."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    sys.stderr.write(f"{question} ")
    sys.stderr.flush()
    return (await _line()).strip()


async def _line() -> str:
    """A line of standard input. Waits in the event loop, so that Ctrl-C ends it."""
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    descriptor = sys.stdin.fileno()
    loop.add_reader(descriptor, ready.set)
    try:
        await ready.wait()
        return os.read(descriptor, 1000).decode(errors="replace")
    finally:
        loop.remove_reader(descriptor)


def answer(url: str, *, allowed: bool) -> int:
    """Stores whether the server at one of the well-known addresses may receive the user's code."""
    known = {f"http://127.0.0.1:{port}/v1": name for name, port in PORTS.items()}
    address = urlsplit(url.rstrip("/"))
    base_url = url.rstrip("/") if address.path else f"{url.rstrip('/')}/v1"
    if base_url not in known:
        raise UsageError(
            f"{url} is not one of the addresses where Stet looks for servers ({', '.join(known)}); "
            "configure other endpoints with [[providers]] in config.toml or `STET_BASE_URL`"
        )
    consents = ServerConsents(user_paths().consents)
    consents.remember(consents.found(known[base_url], base_url), allowed=allowed)
    render.print_line(f"{known[base_url]} at {base_url}: {'may have your code' if allowed else 'gets nothing'}")
    return 0

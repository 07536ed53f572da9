"""Ends sandboxes left by a server that was killed while it built them; runs at the next server start.

A bubblewrap sandbox is two processes: an outer one that dies with its parent, and the first inner one, which dies
with the outer one. Each asks the kernel for this when it begins; if its parent died before that, it waits forever.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

_NAME = "stet-box-of-"


def server_mark() -> str:
    """A word for a sandbox's command line that identifies its server: the server's process id in its own namespace."""
    return f"{_NAME}{os.getpid()}"


def end_orphans() -> int:
    """Ends orphaned sandboxes; returns how many. Those of other users or with a living server are kept."""
    ended = 0
    for process, server in _boxes():
        # The descriptor comes first: afterwards another process could have the number.
        with contextlib.suppress(OSError):
            held = os.pidfd_open(process)
            try:
                if _is_alone(process, server):
                    signal.pidfd_send_signal(held, signal.SIGKILL)
                    ended += 1
            finally:
                os.close(held)
    return ended


def _boxes() -> Iterator[tuple[int, str]]:
    for entry in Path("/proc").glob("[0-9]*"):
        if (words := _words(int(entry.name))) and (server := _server(words)):
            yield int(entry.name), server


def _server(words: list[str]) -> str:
    """The process id of the server that a command line names; "" if it is not a sandbox's."""
    if Path(words[0]).name != "bwrap" or words[1:2] != ["--args"]:
        return ""
    return next((word.removeprefix(_NAME) for word in words[:8] if word.startswith(_NAME)), "")


def _is_alone(process: int, server: str) -> bool:
    """True if the parent is neither the server nor the sandbox's other process."""
    parent = _status(process, "PPid:")[0]
    if parent == "0":  # in another namespace: unknown
        return False
    return _words(int(parent)) != _words(process) and _status(int(parent), "NSpid:")[-1] != server


def _words(process: int) -> list[str]:
    try:
        text = Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return []
    return text.decode("utf-8", "replace").split("\0")


def _status(process: int, field: str) -> list[str]:
    for line in Path(f"/proc/{process}/status").read_text(encoding="utf-8", errors="replace").splitlines():
        if line.startswith(field):
            return line.split()[1:]
    raise ProcessLookupError(process)

"""Boxes whose server was killed in the moment in which they were built: ended when the next one starts.

A box of bubblewrap is two processes: one outside, which follows whoever started it, and the first one inside, which
follows that. Each asks the kernel for it as it begins; if its parent is gone by then, it waits for ever.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

_NAME = "stet-box-of-"


def mark() -> str:
    """A word for a box' command line, by which its server is known: its number in its own namespace."""
    return f"{_NAME}{os.getpid()}"


def end_orphans() -> int:
    """Ends them; how many there were. Boxes of other users, and those that somebody waits for, are let be."""
    ended = 0
    for process, server in _boxes():
        # A descriptor first: afterwards the number could be another's.
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
    """The number of the server that a command line names, "" if it is no box'."""
    if Path(words[0]).name != "bwrap" or words[1:2] != ["--args"]:
        return ""
    return next((word.removeprefix(_NAME) for word in words[:8] if word.startswith(_NAME)), "")


def _is_alone(process: int, server: str) -> bool:
    """Its parent is neither its server nor the other of its box' two processes."""
    parent = _status(process, "PPid:")[0]
    if parent == "0":  # of another namespace, about which nothing can be said
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

"""Starting a child: no shell, no terminal, no secrets on its command line or in its environment."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, cast

from stet_ls.engine.errors import WorkerError
from stet_ls.engine.workers.handshake import Handshake

_LOG_LIMIT = 1_000_000
"""Bytes of a log before the next start begins a new one; the last is kept next to it."""

_ENVIRONMENT = frozenset(
    {
        *("PATH", "HOME", "TMPDIR", "LANG", "LC_ALL"),
        *("PYTHONPATH", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"),
        *("USERPROFILE", "SYSTEMROOT", "TEMP", "TMP", "APPDATA", "LOCALAPPDATA"),  # Windows
    }
)
"""Variables passed to a child. It outlives its starter and serves others, so it gets no keys or STET_ settings."""


class ChildProcess:
    """A child that has announced its address."""

    def __init__(self, process: subprocess.Popen[bytes], handshake: Handshake) -> None:
        self._process = process
        self.handshake = handshake

    def kill(self) -> None:
        """Ends it at once."""
        self._process.kill()


async def spawn(name: str, module: str, arguments: Sequence[str], *, log: Path, deadline: float) -> ChildProcess:
    """Runs `python -m module` until its handshake. WorkerError has the log's last line; a cancel leaves no process."""
    with _opened(log) as file:
        return await _spawned(name, [module, *arguments], file, log, deadline)


async def _spawned(name: str, words: Sequence[str], file: BinaryIO, log: Path, deadline: float) -> ChildProcess:
    beginning = file.seek(0, os.SEEK_END)
    process = _popen([sys.executable, "-P", "-m", *words], file)  # -P: not the modules of the working folder
    # Without a wait for the exit status the child stays in the process table; nothing else waits for it.
    threading.Thread(target=process.wait, name=f"wait for {name}", daemon=True).start()
    handshake = None
    try:
        async with asyncio.timeout(deadline):
            handshake = Handshake.parse(await asyncio.to_thread(_first_line, process))
    except TimeoutError:
        raise WorkerError(f"{name} was not ready within {deadline:g} s; its log is {log}.") from None
    finally:
        if handshake is None:
            process.kill()
    if handshake is None:
        raise WorkerError(f"{name} did not start: {_last_line(file, beginning)} (log: {log}).")
    return ChildProcess(process, handshake)


def _popen(argv: Sequence[str], log: BinaryIO) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=log,
        cwd=Path(sys.executable).anchor,  # so that the child never blocks the removal or unmounting of a folder
        env={name: value for name, value in os.environ.items() if name.upper() in _ENVIRONMENT},
        start_new_session=True,  # protects the child from Ctrl-C and the end of the terminal
    )


def _first_line(process: subprocess.Popen[bytes]) -> str:
    assert process.stdout is not None
    with process.stdout as pipe:
        return pipe.readline().decode(errors="replace")


def _opened(log: Path) -> BinaryIO:
    """The log, or an unnamed file if it cannot be written: its last line says why a child does not start."""
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        if log.exists() and log.stat().st_size > _LOG_LIMIT:
            log.replace(log.with_name(f"{log.name}.1"))
        descriptor = os.open(log, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    except OSError:
        return cast(BinaryIO, tempfile.TemporaryFile())
    return os.fdopen(descriptor, "r+b", buffering=0)


def _last_line(log: BinaryIO, beginning: int) -> str:
    log.seek(beginning)
    lines = log.read().decode(errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "no output")

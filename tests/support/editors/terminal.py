"""How tests run a program on a terminal."""

from __future__ import annotations

import os
import pty
import subprocess
import termios
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path


def on_terminal(argv: list[str], cwd: Path, environment: Mapping[str, str], typed: str = "") -> tuple[int, str]:
    """Runs a command with a terminal for its three streams; returns its status and all that was drawn.

    `typed` waits at the terminal until the command reads a line.
    """
    ours, theirs = pty.openpty()
    os.write(ours, typed.encode())
    with subprocess.Popen(argv, cwd=cwd, env=environment, stdin=theirs, stdout=theirs, stderr=theirs) as child:
        os.close(theirs)
        drawn = b"".join(_pieces(ours))
    os.close(ours)
    return child.returncode, drawn.decode()


class Terminal:
    """A terminal of so many rows and columns, and a program that runs on it; what it draws goes to a file."""

    def __init__(
        self, argv: list[str], cwd: Path, environment: Mapping[str, str], size: tuple[int, int], log: Path
    ) -> None:
        self._ours, theirs = pty.openpty()
        termios.tcsetwinsize(theirs, size)
        self.process = subprocess.Popen(
            argv, cwd=cwd, env={**environment, "TERM": "xterm-256color"},
            stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
        )  # fmt: skip
        os.close(theirs)
        self._reader = threading.Thread(target=self._read, args=(log,), daemon=True)
        self._reader.start()

    def close(self) -> None:
        """Gives the terminal back. To be called when the program has ended."""
        self._reader.join(60)
        os.close(self._ours)

    def _read(self, log: Path) -> None:
        with log.open("wb", buffering=0) as file:
            for piece in _pieces(self._ours):
                file.write(piece)


def _pieces(terminal: int) -> Iterator[bytes]:
    """What is drawn, until the program has ended."""
    try:
        while piece := os.read(terminal, 4096):
            yield piece
    except OSError:  # Linux says EIO when the other end is closed
        pass

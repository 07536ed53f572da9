"""How tests run a command on a terminal."""

from __future__ import annotations

import os
import pty
import subprocess
from collections.abc import Mapping
from pathlib import Path


def on_terminal(argv: list[str], cwd: Path, environment: Mapping[str, str]) -> tuple[int, str]:
    """Runs a command with a terminal for its three streams; returns its status and all that was drawn."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(argv, cwd=cwd, env=environment, stdin=theirs, stdout=theirs, stderr=theirs) as child:
        os.close(theirs)
        drawn = b""
        try:
            while piece := os.read(ours, 4096):
                drawn += piece
        except OSError:  # Linux says EIO when the other end is closed
            pass
    os.close(ours)
    return child.returncode, drawn.decode()

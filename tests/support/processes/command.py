"""How tests run `stet` as a person does: a child process in a folder of its own, its two streams separate.

It is forked (`support/servers/fork_server.py`), which saves its start.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from support.processes.stet import stet_argv
from support.servers.fork_server import forked_argv

SECONDS = 100.0


def call_of(words: Sequence[str]) -> list[str]:
    """The command line of a `stet`; `support.measure` has its own."""
    return forked_argv(*words)


@dataclass(frozen=True)
class Ran:
    """What a command came to."""

    status: int
    out: str
    err: str


@dataclass(frozen=True)
class Stet:
    """Call it with the words of a command; `stdin` and further variables go by keyword."""

    folder: Path
    environment: Mapping[str, str]
    seconds: float = SECONDS

    def __call__(self, *words: str | Path, stdin: str | bytes = "", **variables: str) -> Ran:
        """Runs the command to its end; Python reads its own variables only as it starts."""
        texts = [str(word) for word in words]
        python = any(name.startswith("PYTHON") for name in variables)
        done = subprocess.run(
            stet_argv(*texts) if python else call_of(texts),
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            capture_output=True,
            cwd=self.folder,
            env={**self.environment, **variables},
            timeout=self.seconds,
        )
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())

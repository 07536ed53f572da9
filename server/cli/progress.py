"""The progress line: what a running job is at, on standard error, and only where a person watches."""

from __future__ import annotations

import sys
import time

from stet_ls.engine.events import Event, Judged, Notice, Progress, Stage
from stet_ls.server.cli.present import visible
from stet_ls.server.cli.session import tell
from stet_ls.server.stages import words

_CLEAR = "\r\x1b[K"


class ProgressLine:
    """An `OnEvent` that keeps one line up to date. Notices are printed whether a terminal listens or not."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()
        self._started = time.monotonic()
        self._stage = ""

    def __call__(self, event: Event) -> None:
        """Shows where the job is."""
        match event:
            case Stage() as stage:
                self._stage = words(stage)
                self._draw("")
            case Progress(tokens):
                self._draw(f", {tokens} tokens")
            case Judged(evidence):
                self._draw(f", {evidence.check} {evidence.verdict}")
            case Notice(message):
                self.clear()
                tell(visible(message))

    def clear(self) -> None:
        """Takes the line away, before results are printed."""
        if self._shown:
            sys.stderr.write(_CLEAR)
            sys.stderr.flush()

    def _draw(self, more: str) -> None:
        if self._shown:
            seconds = time.monotonic() - self._started
            sys.stderr.write(f"{_CLEAR}{visible(self._stage + more)[:70]} ({seconds:.0f} s)")
            sys.stderr.flush()

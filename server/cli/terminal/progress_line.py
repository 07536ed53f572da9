"""The progress line: the stage of a running job, on standard error and only on a terminal."""

from __future__ import annotations

import asyncio
import time

from stet_ls.engine.api.events import Event, Notice
from stet_ls.server.cli.terminal.status import StatusLine, print_status
from stet_ls.server.jobs.progress_text import ProgressText
from stet_ls.validators.invisible_chars import escape_invisible

_WIDTH = 70


class ProgressLine:
    """An `OnEvent` that keeps one line up to date. Notices are printed with or without a terminal."""

    def __init__(self) -> None:
        self._line = StatusLine()
        self._started = time.monotonic()
        self._at = ProgressText()
        self._ticking: asyncio.Task[None] | None = None

    def __call__(self, event: Event) -> None:
        """Shows the stage of the job. Called on the event loop's thread."""
        self._at.on_event(event)
        if isinstance(event, Notice):
            self._line.clear()
            print_status(escape_invisible(event.message))
        if self._line.is_shown:
            self._ticking = self._ticking or asyncio.create_task(self._tick(), name="progress line")
            self._draw()

    def clear(self) -> None:
        """Removes the line, before results are printed."""
        if self._ticking is not None:
            self._ticking.cancel()
            self._ticking = None
        self._line.clear()

    async def _tick(self) -> None:
        """Updates the seconds: a model that hangs sends no event."""
        while True:
            await asyncio.sleep(1.0)
            self._draw()

    def _draw(self) -> None:
        seconds = time.monotonic() - self._started
        self._line.show(f"{escape_invisible(self._at.text)[:_WIDTH]} ({seconds:.0f} s)")

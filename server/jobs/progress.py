"""Shows a job's progress to the client: one begin, some reports, exactly one end.

A client without `window.workDoneProgress` gets a line in its log at the start and at the end, and a message at the end:
one message per stage would be too many.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from stet_ls.engine.api.events import Event, Notice
from stet_ls.engine.markdown import plain
from stet_ls.server.jobs.progress_text import ProgressText

LOGGER = logging.getLogger(__name__)

REPORT_EVERY = 1.0
"""Minimum interval in seconds between reports of mere counts and times; other changes are always reported."""


class JobProgress:
    """One job's progress. `cancel` is called when the user presses the client's cancel button.

    The request to create the progress runs in the background: a client that never answers must not delay the job.
    """

    def __init__(
        self, ls: LanguageServer, token: str, title: str, cancel: Callable[[], object], *, shown: bool
    ) -> None:
        self._ls = ls
        self._token = token
        self._title = plain(title)  # VS Code renders links in progress messages
        self._cancel = cancel
        self._began = False
        self._end: str | None = None
        self._at = ProgressText()
        self._last_report = 0.0
        self._creating = asyncio.create_task(self._create(), name=f"create {token}") if shown else None
        self._ticking = asyncio.create_task(self._tick(), name=f"tick {token}") if shown else None
        if not shown:
            self._log(f"{title}: started")

    def on_event(self, event: Event) -> None:
        """Reports an event of the engine; called on the event loop's thread."""
        if isinstance(event, Notice):
            self._log(f"{self._title}: {event.message}")
        self._report(urgent=self._at.on_event(event))

    def say(self, message: str) -> None:
        """Reports a message; frequent ones are thinned out."""
        self._at.say(message)
        self._report(urgent=False)

    def end(self, message: str) -> None:
        """Ends the progress with the outcome. Only the first call counts."""
        if self._end is not None:
            return
        self._end = plain(message)
        if self._ticking is not None:
            self._ticking.cancel()
        if self._creating is None:
            self._log(f"{self._title}: {message}")
        elif self._began:
            self._send_end()

    async def _create(self) -> None:
        try:
            await self._ls.work_done_progress.create_async(self._token)
        except JsonRpcException as error:
            LOGGER.info("the client rejected progress: %s", error)
            self._creating = None
            return
        self._began = True
        begin = types.WorkDoneProgressBegin(self._title, cancellable=True, message=plain(self._at.text) or None)
        self._ls.work_done_progress.begin(self._token, begin)
        pressed = self._ls.work_done_progress.tokens[self._token]
        pressed.add_done_callback(lambda _: self._cancel())
        if self._end is not None:
            self._send_end()

    async def _tick(self) -> None:
        """Reports the seconds in the current stage: a model that hangs sends no event."""
        while True:
            await asyncio.sleep(REPORT_EVERY)
            if self._at.lasts:
                self._report(urgent=False)

    def _report(self, *, urgent: bool) -> None:
        now = time.monotonic()
        if not self._began or self._end is not None or not (urgent or now - self._last_report >= REPORT_EVERY):
            return
        self._last_report = now
        report = types.WorkDoneProgressReport(cancellable=True, message=plain(self._at.clocked))
        self._ls.work_done_progress.report(self._token, report)

    def _send_end(self) -> None:
        self._ls.work_done_progress.end(self._token, types.WorkDoneProgressEnd(message=self._end))

    def _log(self, message: str) -> None:
        self._ls.window_log_message(types.LogMessageParams(types.MessageType.Info, message))

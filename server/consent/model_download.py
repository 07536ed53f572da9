"""Offers the embedded model, with its size, to a job that found none; downloads it only after the user's click."""

from __future__ import annotations

import asyncio
import secrets
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from stet_ls.server.errors import failure_of

if TYPE_CHECKING:
    from stet_ls.engine.model.embedded.weights import Weights
    from stet_ls.engine.storage.paths import Paths
    from stet_ls.server.lsp.client_connection import ClientConnection


OTHER = "Other model…"


class _CanceledError(Exception):
    """The user, or the end of the server, stopped the download."""


class _Speed:
    """The speed of a download since its start; the bytes that an earlier one left do not count."""

    def __init__(self) -> None:
        self._began: tuple[float, int] | None = None

    def line(self, done: int, total: int) -> str:
        """ "120 of 398 MB · 5.1 MB/s · 54 s left"; without speed in the first second."""
        now = time.monotonic()
        at, had = self._began = self._began or (now, done)
        size = f"{done / 1e6:.0f} of {total / 1e6:.0f} MB"
        if now - at < 1 or done <= had:
            return size
        speed = (done - had) / (now - at)
        return f"{size} · {speed / 1e6:.1f} MB/s · {(total - done) / speed:.0f} s left"


class ModelDownloadOffer:
    """One question and one download at a time, for any number of jobs without a model."""

    def __init__(self, ls: ClientConnection, paths: Paths, *, shown: bool) -> None:
        """`shown`: the client shows progress."""
        self._ls = ls
        self._paths = paths
        self._shown = shown
        self._asking = False
        self._fetching: str | None = None
        self._canceled = threading.Event()

    async def offer(
        self, name: str, problem: str, other: Callable[[], Awaitable[str]], again: Callable[[], object]
    ) -> None:
        """Shows the problem, with a button that downloads that embedded model, and one that chooses by `other`.

        Calls `again` once there is a model.
        """
        from stet_ls.engine.model.embedded.weights import WEIGHTS

        weights = WEIGHTS[name]
        if self._fetching is not None:
            self._show(types.MessageType.Warning, f"{self._fetching} is downloading. Run the action again afterwards.")
        elif self._asking:
            self._show(types.MessageType.Error, problem)
        else:
            download = f"Download {weights.megabytes} MB"
            choice = await self._choice(problem, [download, OTHER])
            ready = await self._fetch(name, weights, "Your job continues.") if choice == download else False
            if ready or (choice == OTHER and await other()):
                again()

    async def fetch(self, name: str) -> bool:
        """Downloads a model that the user chose, with progress; True if it is here afterwards."""
        from stet_ls.engine.model.embedded.weights import WEIGHTS

        weights = WEIGHTS[name]
        if self._fetching is not None:
            self._show(types.MessageType.Warning, f"{self._fetching} is downloading. Try again afterwards.")
            return False
        return await self._fetch(name, weights, "")

    def close(self) -> None:
        """Stops a download. The received part is kept for the next one."""
        self._canceled.set()

    async def _choice(self, problem: str, buttons: Sequence[str]) -> str | None:
        self._asking = True
        try:
            return await self._ls.choose(types.MessageType.Error, problem, buttons)
        except JsonRpcException:
            self._show(types.MessageType.Error, problem)
            return None
        finally:
            self._asking = False

    async def _fetch(self, name: str, weights: Weights, then: str) -> bool:
        """`then` is what happens next, for the message."""
        from stet_ls.engine.model.embedded.weights import pull
        from stet_ls.server.jobs.progress import JobProgress  # late: imports the engine's models

        self._fetching = weights.title
        self._canceled.clear()
        title = f"Stet: download {weights.title}"
        token = f"stet/download/{secrets.token_urlsafe(9)}"
        progress = JobProgress(self._ls, token, title, self._canceled.set, shown=self._shown)
        loop, speed = asyncio.get_running_loop(), _Speed()

        def on_progress(done: int, total: int) -> None:
            if self._canceled.is_set():
                raise _CanceledError
            loop.call_soon_threadsafe(progress.say, speed.line(done, total))

        try:
            await asyncio.to_thread(pull, name, self._paths, on_progress=on_progress)
        except _CanceledError:
            progress.end("cancelled; the next download resumes here")
        except Exception as error:  # noqa: BLE001 - a task's root: every error becomes one sentence and a log entry
            message = failure_of(error, during=title).message
            progress.end(message)
            self._show(types.MessageType.Error, message)
        else:
            message = f"Downloaded {weights.title}. {then}".rstrip()
            progress.end(message)
            self._show(types.MessageType.Info, message)
            return True
        finally:
            self._fetching = None
        return False

    def _show(self, kind: types.MessageType, message: str) -> None:
        self._ls.window_show_message(types.ShowMessageParams(kind, message))

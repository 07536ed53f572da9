"""Runs work in a thread, one piece at a time: abandoned work runs to its end, and the next piece waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any, ParamSpec, TypeVar

Given = ParamSpec("Given")
Made = TypeVar("Made")


class SerialExecutor:
    """One document's access to a pool of threads.

    A thread cannot be stopped: a newer text must neither start a second parse next to the one that it made obsolete,
    nor wait for a free thread behind documents that are slow.
    """

    def __init__(self, pool: Executor) -> None:
        self._pool = pool
        self._last: asyncio.Future[Any] | None = None

    async def run(self, work: Callable[Given, Made], *args: Given.args, **kwargs: Given.kwargs) -> Made:
        """The result or exception of `work`. A cancelled waiter lets it finish and ignores its result."""
        while self._last is not None and not self._last.done():
            await asyncio.wait({self._last})
        future = asyncio.get_running_loop().run_in_executor(self._pool, lambda: work(*args, **kwargs))
        self._last = future
        future.add_done_callback(_retrieve)
        return await asyncio.shield(future)


def _retrieve(future: asyncio.Future[Made]) -> None:
    """Retrieves the exception of an abandoned task, so that asyncio does not complain."""
    if not future.cancelled():
        future.exception()

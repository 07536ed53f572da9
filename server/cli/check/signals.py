"""Clean exits: handles signals to a process of the check, and kills the processes that it started.

An exception can come between the start of a tool and the moment at which some code is responsible for it. A process of
the check starts only what belongs to the check, so on exit it kills all its remaining children.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import NoReturn

_ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextlib.contextmanager
def cleanup_on_signal() -> Iterator[None]:
    """Raises a termination signal in the block as SystemExit, as Ctrl-C is raised; kills remaining children at the end.

    The handlers stay installed: no signal may get in between the end of the block and the end of the process.
    """
    for number in _ENDING:
        signal.signal(number, _leave)
    try:
        yield
    finally:
        for child in _children():
            _kill(child)


@contextlib.contextmanager
def delayed_signals() -> Iterator[None]:
    """Delays signals until the end of the block, also in a process forked in it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, *_ENDING})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def unblock_signals() -> None:
    """Unblocks signals in a process that was forked in a block of `delayed_signals`."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, *_ENDING})


def _leave(number: int, _frame: FrameType | None) -> NoReturn:
    for each in _ENDING:
        signal.signal(each, signal.SIG_IGN)  # a second signal would interrupt the cleanup
    raise SystemExit(128 + number)


def _children() -> list[int]:
    """The child processes that are not reaped yet. Only Linux lists them."""
    try:
        return [int(word) for word in Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()]
    except OSError:
        return []


def _kill(child: int) -> None:
    for kill in (os.killpg, os.kill):  # the child may not have made its own process group yet
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(child, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(child, 0)

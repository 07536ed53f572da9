"""Leaving at any moment with nothing left behind: what a signal does to a process of the check, and what it clears.

An exception can come between the start of a tool and the moment at which somebody is responsible for it. A process of
the check starts nothing but what belongs to the check, so at its end whatever it still has is killed.
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
    """A request to leave is raised in the block as SystemExit, as Ctrl-C is raised; what it leaves is killed.

    The handlers stay as they are then: nothing may come between the end of the block and the end of the process.
    """
    for number in _ENDING:
        signal.signal(number, _leave)
    try:
        yield
    finally:
        for child in _children():
            _kill(child)


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """No signal ends the block half way: it comes when the block is over, also in a process forked in it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, *_ENDING})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def attentive() -> None:
    """Signals reach a process that was forked in a block of `undisturbed`."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, *_ENDING})


def _leave(number: int, _frame: FrameType | None) -> NoReturn:
    for each in _ENDING:
        signal.signal(each, signal.SIG_IGN)  # once is enough: a second one would break off the clearing away
    raise SystemExit(128 + number)


def _children() -> list[int]:
    """The processes that this one started and did not take leave of. Only Linux tells."""
    try:
        return [int(word) for word in Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()]
    except OSError:
        return []


def _kill(child: int) -> None:
    for kill in (os.killpg, os.kill):  # it may not have got to making its own group
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(child, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(child, 0)

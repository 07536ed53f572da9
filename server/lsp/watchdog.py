"""Ends the server when its client is gone, even while the server is busy.

The end of standard input shows this too, but not if a child of the client inherited the other end of the pipe.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

LOGGER = logging.getLogger(__name__)

POLL_SECONDS = 2.0
"""Interval between checks of the client's process."""
FIRST_POLL_SECONDS = 0.2
"""Interval between checks until a process is known."""
ANSWER_SECONDS = 4.0
"""Limit for a response from a client whose process is not visible."""
GRACE_SECONDS = 5.0
"""Limit for the server to clean up after its client; then it is killed. With the poll: within 10 s of the client."""

_HIGHEST = 2**31 - 1
"""The largest process id on any system; `os.kill` raises OverflowError beyond."""
_INIT = 1


class ClientWatch:
    """A thread that watches the client's process. A blocked event loop cannot stop it."""

    def __init__(
        self, process_id: Callable[[], int | None], gone: Callable[[], object], *, answers: Callable[[], bool]
    ) -> None:
        """`process_id` is called at each check, as `initialize` sets it later. `gone` is called in the thread.

        `answers` sends the client a request and waits `ANSWER_SECONDS` at most. It is called, in the thread, if the
        first check does not find the process: it died before, or it is on another machine or outside of this container,
        whose ids mean nothing here.
        """
        self._process_id = process_id
        self._gone = gone
        self._answers = answers
        self._stopped = threading.Event()
        self._parent = os.getppid()
        self._seen: dict[int, int | None] = {}
        """The watched processes, each with its start time: ids are reused."""
        self._left_alone: set[int] = set()

    def start(self) -> None:
        """Starts the thread."""
        threading.Thread(target=self._look, name="client watch", daemon=True).start()

    def stop(self) -> None:
        """Stops watching."""
        self._stopped.set()

    def _look(self) -> None:
        while not self._stopped.wait(POLL_SECONDS if self._seen else FIRST_POLL_SECONDS):
            if not self._take(self._process_id()) or not all(map(_is_same, self._seen, self._seen.values())):
                LOGGER.info("the client's process ended")
                end_soon(1)
                self._gone()
                return

    def _take(self, process_id: int | None) -> bool:
        """Starts to watch a process. False if it is gone already."""
        if process_id is None or process_id in self._seen or process_id in self._left_alone:
            return True
        if not is_usable(process_id):
            LOGGER.warning("%.40r is not a client process; not watched", process_id)
        elif process_id == self._parent or (is_alive(process_id) and _began_before_us(process_id)):
            self._seen[process_id] = start_time(process_id)
            return True
        elif not self._answers():
            return False
        else:
            LOGGER.info("cannot watch the client's process %s", process_id)
        self._left_alone.add(process_id)
        return True


def is_usable(process_id: object) -> bool:
    """Whether this can be the id of a client: an integer, in range, and neither this process nor init."""
    if not isinstance(process_id, int) or isinstance(process_id, bool):
        return False
    return _INIT < process_id <= _HIGHEST and process_id != os.getpid()


def start_time(process_id: int) -> int | None:
    """The start time of a process, in ticks since boot; None if unknown (proc(5))."""
    fields = _stat(process_id)
    return int(fields[19]) if len(fields) > 19 else None  # field 22; the list begins with the state, which is field 3


def _stat(process_id: int) -> list[bytes]:
    """The fields of proc(5) from the state on: the name before it is in parentheses and may contain any character."""
    try:
        return Path(f"/proc/{process_id}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return []


def _is_same(process_id: int, began: int | None) -> bool:
    """Whether the process with that start time still exists."""
    return is_alive(process_id) and (began is None or start_time(process_id) in (began, None))


def _began_before_us(process_id: int) -> bool:
    """False for a process that is younger than this one: its id belonged to the client that started this one before."""
    theirs, ours = start_time(process_id), start_time(os.getpid())
    return theirs is None or ours is None or theirs <= ours


def is_alive(process_id: int) -> bool:
    """False if the process has ended, even as a zombie.

    On Windows always True: there `os.kill` with signal 0 would end the process; the end of standard input has to
    suffice.
    """
    if sys.platform == "win32":
        return True
    if process_id <= 0:
        return False
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return _stat(process_id)[:1] not in ([b"Z"], [b"X"])


def end_soon(status: int) -> None:
    """Ends this process with `status` after `GRACE_SECONDS` if it is still running, even if a thread is stuck."""
    timer = threading.Timer(GRACE_SECONDS, os._exit, (status,))
    timer.daemon = True
    timer.start()

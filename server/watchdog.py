"""Ends the server when its client is gone, whatever the server is doing at that moment.

The end of standard input says so too, but not where a child of the client inherited the other end of the pipe.
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
"""Between two looks at the client's process."""
FIRST_POLL_SECONDS = 0.2
"""The same, until there is a process to look at: one that ends before it was seen is taken for one elsewhere."""
GRACE_SECONDS = 5.0
"""What a server may take to clean up after its client; then it is ended. With the poll: within 10 s of the client."""


class ClientWatch:
    """A thread that looks after the client's process. A loop that is blocked cannot stop it."""

    def __init__(self, process_id: Callable[[], int | None], gone: Callable[[], object]) -> None:
        """`process_id` is asked at each look, as `initialize` tells it only later. `gone` is called in the thread."""
        self._process_id = process_id
        self._gone = gone
        self._stopped = threading.Event()
        self._parent = os.getppid()
        self._seen: set[int] = set()
        self._unseen: set[int] = set()

    def start(self) -> None:
        """Begins to look."""
        threading.Thread(target=self._look, name="client watch", daemon=True).start()

    def stop(self) -> None:
        """Looks no more."""
        self._stopped.set()

    def _look(self) -> None:
        while not self._stopped.wait(POLL_SECONDS if self._seen else FIRST_POLL_SECONDS):
            self._note(self._process_id())
            if any(not is_alive(process_id) for process_id in self._seen):
                LOGGER.info("the client's process is gone")
                end_within(GRACE_SECONDS, 1)
                self._gone()
                return

    def _note(self, process_id: int | None) -> None:
        """Takes a process under watch, unless it was never there: a client outside of a container sends such ids."""
        if process_id is None or process_id in self._seen or process_id in self._unseen:
            return
        if process_id == self._parent or is_alive(process_id):
            self._seen.add(process_id)
        else:
            self._unseen.add(process_id)
            LOGGER.info("the client's process %s cannot be seen from here", process_id)


def is_alive(process_id: int) -> bool:
    """False if the process has ended, even where nobody has collected its exit status yet.

    On Windows always True: there `os.kill` with signal 0 would end the process, and the end of the input has to do.
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
    try:
        # proc(5): the state follows the name, which is in parentheses and may hold any character but these.
        state = Path(f"/proc/{process_id}/stat").read_bytes().rpartition(b")")[2].split()[0]
    except (OSError, IndexError):
        return True
    return state not in (b"Z", b"X")


def end_within(seconds: float, status: int) -> None:
    """Ends this process with `status` after a while if it is still there: a stuck thread must not keep it."""
    timer = threading.Timer(seconds, os._exit, (status,))
    timer.daemon = True
    timer.start()

"""Processes as Linux tells of them in /proc: who is below whom, and what time they have had.

Needs nothing but Python 3.8, on its own: it looks at boxes from outside, and goes into them to time the steps of a run.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

_RECENT = 1.0
"""Seconds for which idle time may still turn out to have been a wait: the kernel tells of one when it is over."""


class Clock:
    """Counts from `began` (of `time.monotonic`, now by default) for a process and all below it.

    `own` seconds are those that passed without the `waited` ones, in which the tree had work to do and got no core:
    the machine's doing. Linux tells of each thread how long it computed and how long it waited for that. Of threads
    that wait at once the longest wait counts, or a run could stop its clock by standing in its own way; and a second
    in which it computed counts in full. Where nothing is told, all that passes is its own.
    """

    def __init__(self, root: int, began: float | None = None) -> None:
        self._root = root
        self._began = self._read_at = time.monotonic() if began is None else began
        self._known = _times(root)
        self._computed = self.waited = self._idle = 0.0

    @property
    def passed(self) -> float:
        """Seconds up to the last reading."""
        return self._read_at - self._began

    @property
    def own(self) -> float:
        """Those of them that the tree did not wait for a core."""
        return self.passed - self.waited

    @property
    def computed(self) -> float | None:
        """Seconds on cores, of all threads together; None where the kernel tells nothing."""
        return self._computed if self._known else None

    def read(self) -> float:
        """Looks at the tree, and gives `own`. To be called often: what ended since the last time is not seen."""
        now, times = time.monotonic(), _times(self._root)
        computed = longest = 0
        for thread, (ran, waited) in times.items():
            ran_before, waited_before = self._known.get(thread, (0, 0))
            if ran < ran_before:  # the number is another's now
                ran_before = waited_before = 0
            computed += ran - ran_before
            longest = max(longest, waited - waited_before)
        passed, self._read_at = now - self._read_at, now
        self._known = times or self._known
        self._computed += computed / 1e9
        self._idle = min(self._idle + max(passed - computed / 1e9, 0.0), max(_RECENT, passed))
        excused = min(longest / 1e9, self._idle)
        self._idle -= excused
        self.waited += excused
        return self.own


def descendants(root: int) -> Iterator[int]:
    """The processes below `root`, without itself; those that end meanwhile are passed over."""
    pending = [root]
    while pending:
        for child in children(pending.pop()):
            yield child
            pending.append(child)


def children(process: int) -> list[int]:
    """A process' children: each of its threads may have some. One file a thread, no walk over the machine."""
    found: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{process}/task"):
            with open(f"/proc/{process}/task/{thread}/children", "rb") as file:
                found += map(int, file.read().split())
    except (OSError, ValueError):
        pass  # it ended while it was looked at
    return found


def _times(root: int) -> dict[str, tuple[int, int]]:
    """Of each thread in the tree the nanoseconds that it computed, and that it waited for a core."""
    found = {}
    for process in (root, *descendants(root)):
        try:
            for thread in os.listdir(f"/proc/{process}/task"):
                with open(f"/proc/{process}/task/{thread}/schedstat", "rb") as file:
                    ran, waited, _ = file.read().split()
                found[thread] = (int(ran), int(waited))
        except (OSError, ValueError):
            continue  # it ended while it was looked at, or this is no Linux
    return found

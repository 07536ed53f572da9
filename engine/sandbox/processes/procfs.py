"""Processes as Linux tells of them in /proc: who is below whom, and what time they have had.

Needs nothing but Python 3.8, on its own: it looks at boxes from outside, and goes into them to time the steps of a run.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

_RECENT = 1.0
"""Seconds for which idle time may still turn out to have been a wait: the kernel tells of one when it is over."""
_PERIOD, _SOON = 0.2, 0.04
"""Seconds between two looks, and where the next one may show that the time is up."""
_TIMES, _TIMES_SOON = 20, 4
"""The same in terms of what a look takes: a tree of thousands of threads does not keep those busy who watch it."""
_TICK = 1 / os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 0.01
_YIELDING = {3: 1, 5: 2}
"""SCHED_BATCH and SCHED_IDLE: who asks for them wants to wait."""


class Clock:
    """Counts from `began` (of `time.monotonic`, now by default) for a process and all below it.

    `own` seconds are those that passed without the `waited` ones, in which the tree had work to do and got no core:
    the machine's doing. Linux tells of each thread how long it waited for one. Of threads that wait at once the longest
    wait counts, or a run could stop its clock by standing in its own way; none counts of a thread that is less urgent
    than the root was at the start; and a second in which the tree computed counts in full. Where nothing is told, all
    that passes is its own.

    This is fairness to programs and no wall against them: there are ways to compute unseen, such as short processes
    that nobody waits for. The only hard bound is a limit to the time that has `passed` by the clock on the wall.
    """

    def __init__(self, root: int, began: float | None = None) -> None:
        self._root = root
        self._began = self._read_at = time.monotonic() if began is None else began
        self._policy, self._nice = _yields(root, root)
        self._times: dict[int, tuple[int, int, int]] = {}
        self._waits: dict[int, tuple[int, int]] = {}
        self._told, self._owed = False, 0
        self.waited = self._computed = self._idle = self._took = 0.0
        self._look()

    @property
    def passed(self) -> float:
        """Seconds up to now."""
        return time.monotonic() - self._began

    @property
    def own(self) -> float:
        """Seconds up to the last reading, without those that the tree waited for a core."""
        return self._read_at - self._began - self.waited

    @property
    def computed(self) -> float | None:
        """Seconds on cores, of all processes together; None where the kernel tells nothing."""
        return self._computed if self._told else None

    def is_late(self, seconds: float) -> bool:
        """True once so many of `own` are used up. May be asked at any time: it reads where that is due."""
        since = time.monotonic() - self._read_at
        near = self.own + since >= seconds and since >= max(_SOON, _TIMES_SOON * self._took)
        if near or since >= max(_PERIOD, _TIMES * self._took):
            self.read()
        return self.own >= seconds

    def read(self) -> float:
        """Looks at the tree, and gives `own`."""
        now = time.monotonic()
        computed, longest = self._look()
        passed, self._read_at = now - self._read_at, now
        self._computed += computed
        self._idle = min(self._idle + max(passed - computed, 0.0), max(_RECENT, passed))
        excused = min(longest, self._idle)
        self._idle -= excused
        self.waited += excused
        self._took = time.monotonic() - now
        return self.own

    def _look(self) -> tuple[float, float]:
        """What the tree has computed since the last look, and the longest of its threads' waits for a core."""
        processes = [self._root, *descendants(self._root)]
        return self._new_times(processes) * _TICK, self._longest_wait(processes) / 1e9

    def _new_times(self, processes: list[int]) -> int:
        """Samples usage. The parent of an ended process reports that process's total.

        What was seen of it while it lived is `owed` then. One look later nobody tells of it any more.
        """
        before, self._times = self._times, {}
        own = inherited = gone = 0
        # Parents first, or an end in between counts twice. Whoever is not found for a moment is asked for by number.
        for process in dict.fromkeys((*processes, *before)):
            times = _times(process)
            known = before.get(process, (0, 0, 0))
            if times is None or times[0] != known[0]:
                gone += known[1] + known[2]
                known = (0, 0, 0)
            if times is not None:
                self._times[process] = times
                own += times[1] - known[1]
                inherited += times[2] - known[2]
        owed, self._owed = self._owed + gone, min(max(self._owed + gone - inherited, 0), gone)
        self._told = self._told or own + inherited > 0
        return max(own, 0) + max(inherited - owed, 0)

    def _longest_wait(self, processes: list[int]) -> int:
        """Nanoseconds. What is known of threads stays, for those that are not found for a moment."""
        found = []
        for process in processes:
            for thread, ran, waited in _waits(process):
                ran_before, waited_before = self._waits.get(thread, (0, 0))
                # Less than before: the number is another's now.
                found.append((waited - (waited_before if ran >= ran_before else 0), process, thread))
                self._waits[thread] = ran, waited
                self._told = self._told or ran > 0
        for wait, process, thread in sorted((one for one in found if one[0] > 0), reverse=True):
            policy, nice = _yields(process, thread)
            if policy <= self._policy and nice <= self._nice:
                return wait
        return 0


def descendants(root: int) -> Iterator[int]:
    """The processes below `root`, without itself; those that end meanwhile are passed over."""
    pending = [root]
    while pending:
        for child in children(pending.pop()):
            yield child
            pending.append(child)


def children(process: int) -> list[int]:
    """A process' children: each of its threads may have some. One file a thread, no walk over the machine."""
    return [int(child) for thread in _threads(process) for child in _words(f"{process}/task/{thread}/children")]


def _threads(process: int) -> list[int]:
    try:
        return [int(thread) for thread in os.listdir(f"/proc/{process}/task")]
    except OSError:
        return []  # it ended while it was looked at, or this is no Linux


def _words(name: str) -> list[bytes]:
    """What a file in /proc says; nothing if what it tells of has ended."""
    try:
        with open(f"/proc/{name}", "rb") as file:
            return file.read().split()
    except OSError:
        return []


def _stat(name: str) -> list[int]:
    """The numbers of a `stat` file, from the fourth field on: the second may hold spaces."""
    words = _words(name)
    name_ends = max((at for at, word in enumerate(words) if word.endswith(b")")), default=0)
    return [int(word) for word in words[name_ends + 2 :]]


def _times(process: int) -> tuple[int, int, int] | None:
    """When it began, what it computed, and what the children that it waited for did, in ticks; None if it is gone."""
    told = _stat(f"{process}/stat")
    return (told[18], told[10] + told[11], told[12] + told[13]) if told else None


def _waits(process: int) -> Iterator[tuple[int, int, int]]:
    """Of each thread its number, and the nanoseconds that it computed and that it waited for a core."""
    for thread in _threads(process):
        told = _words(f"{process}/task/{thread}/schedstat")
        if told:
            yield thread, int(told[0]), int(told[1])


def _yields(process: int, thread: int) -> tuple[int, int]:
    """How much a thread yields to others, by its policy and its niceness."""
    told = _stat(f"{process}/task/{thread}/stat")
    return (_YIELDING.get(told[37], 0), told[15]) if told else (0, 0)

"""Linux processes from /proc: the process tree and the CPU time that it has had.

Needs only Python 3.8: it monitors sandboxes from outside, and is copied into them to time the steps of a run.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

_RECENT = 1.0
"""Seconds for which idle time may still turn out to be a wait: the kernel reports a wait when it is over."""
_PERIOD, _SOON = 0.2, 0.04
"""Seconds between two samples, and the shorter interval close to the limit."""
_TIMES, _TIMES_SOON = 20, 4
"""The same in multiples of a sample's duration, so that monitoring thousands of threads stays cheap."""
_TICK = 1 / os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 0.01
_YIELDING = {3: 1, 5: 2}
"""SCHED_BATCH and SCHED_IDLE: threads with these policies accept waiting."""


class Clock:
    """Counts from `began` (of `time.monotonic`, now by default) for a process and all below it.

    `own` seconds are those that passed without the `waited` ones, in which the tree had work but no core because the
    machine was busy. Linux reports for each thread how long it waited for a core. Of simultaneous waits the longest
    counts, or a run could stop its clock by competing with itself; waits of a thread less urgent than the root was at
    the start do not count; and a second in which the tree computed counts in full. Without these reports, all time is
    own.

    This is for fairness, not a security limit: a program can compute unseen, for example in short processes that it
    does not wait for. The only hard bound is a limit on the wall-clock time in `passed`.
    """

    def __init__(self, root: int, began: float | None = None) -> None:
        self._root = root
        self._began = self._read_at = time.monotonic() if began is None else began
        self._policy, self._nice = _yields(root, root)
        self._times: dict[int, tuple[int, int, int]] = {}
        self._waits: dict[int, tuple[int, int]] = {}
        self._has_times, self._counted = False, 0
        self.waited = self._computed = self._idle = self._took = 0.0
        self._look()

    @property
    def passed(self) -> float:
        """Wall-clock seconds until now."""
        return time.monotonic() - self._began

    @property
    def own(self) -> float:
        """Seconds until the last sample, without those that the tree waited for a core."""
        return self._read_at - self._began - self.waited

    @property
    def computed(self) -> float | None:
        """CPU seconds of all processes together; None if the kernel reports none."""
        return self._computed if self._has_times else None

    def is_late(self, seconds: float) -> bool:
        """True once `own` has reached `seconds`. Cheap to call often: it samples only when due."""
        since = time.monotonic() - self._read_at
        near = self.own + since >= seconds and since >= max(_SOON, _TIMES_SOON * self._took)
        if near or since >= max(_PERIOD, _TIMES * self._took):
            self.read()
        return self.own >= seconds

    def read(self) -> float:
        """Samples the tree and returns `own`."""
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
        """The CPU seconds of the tree since the last sample, and the longest of its threads' waits for a core."""
        processes = [self._root, *descendants(self._root)]
        return self._new_times(processes) * _TICK, self._longest_wait(processes) / 1e9

    def _new_times(self, processes: list[int]) -> int:
        """CPU ticks since the last sample. The parent of an ended process reports that process's total.

        The part that was `counted` while the process lived is not counted again; it expires after one more sample.
        """
        before, self._times = self._times, {}
        own = inherited = gone = 0
        # Parents first, or an end in between counts twice. Processes not listed for a moment are looked up by number.
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
        counted, self._counted = self._counted + gone, min(max(self._counted + gone - inherited, 0), gone)
        self._has_times = self._has_times or own + inherited > 0
        return max(own, 0) + max(inherited - counted, 0)

    def _longest_wait(self, processes: list[int]) -> int:
        """Nanoseconds. The values of threads that are not listed for a moment are kept."""
        found = []
        for process in processes:
            for thread, ran, waited in _waits(process):
                ran_before, waited_before = self._waits.get(thread, (0, 0))
                # Less than before: the number now belongs to another thread.
                found.append((waited - (waited_before if ran >= ran_before else 0), process, thread))
                self._waits[thread] = ran, waited
                self._has_times = self._has_times or ran > 0
        for wait, process, thread in sorted((one for one in found if one[0] > 0), reverse=True):
            policy, nice = _yields(process, thread)
            if policy <= self._policy and nice <= self._nice:
                return wait
        return 0


def descendants(root: int) -> Iterator[int]:
    """The processes below `root`, without itself; those that end meanwhile are skipped."""
    pending = [root]
    while pending:
        for child in children(pending.pop()):
            yield child
            pending.append(child)


def children(process: int) -> list[int]:
    """A process's children: each of its threads may have some. Reads one file per thread, not all processes."""
    return [int(child) for thread in _threads(process) for child in _words(f"{process}/task/{thread}/children")]


def _threads(process: int) -> list[int]:
    try:
        return [int(thread) for thread in os.listdir(f"/proc/{process}/task")]
    except OSError:
        return []  # it has ended, or this is not Linux


def _words(name: str) -> list[bytes]:
    """The words of a file in /proc; empty if its process has ended."""
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
    """Its start, its CPU time and that of the children it waited for, in ticks; None if it is gone."""
    fields = _stat(f"{process}/stat")
    return (fields[18], fields[10] + fields[11], fields[12] + fields[13]) if fields else None


def _waits(process: int) -> Iterator[tuple[int, int, int]]:
    """For each thread its number, and the nanoseconds that it computed and that it waited for a core."""
    for thread in _threads(process):
        fields = _words(f"{process}/task/{thread}/schedstat")
        if fields:
            yield thread, int(fields[0]), int(fields[1])


def _yields(process: int, thread: int) -> tuple[int, int]:
    """How much a thread yields to others, by its policy and its niceness."""
    fields = _stat(f"{process}/task/{thread}/stat")
    return (_YIELDING.get(fields[37], 0), fields[15]) if fields else (0, 0)

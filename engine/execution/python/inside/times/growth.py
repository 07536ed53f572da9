"""Measures how the time of a call grows with its arguments: each text in a fork of its own, in processor time."""

from __future__ import annotations

import io
import mmap
import os
import select
import signal
import sys
from typing import Any

from stet_ls.engine.execution.python.inside.call import CallRunner, CallTimeLimit, CallTimeout
from stet_ls.engine.execution.python.inside.determinism import Pins
from stet_ls.engine.execution.python.inside.fork import ForkBegun
from stet_ls.engine.execution.python.inside.loading import load
from stet_ls.engine.execution.python.inside.originals import real_clock, real_fork, real_thread_work
from stet_ls.engine.execution.python.inside.times.stopwatch import Stopwatch

MOST_GROWN, LONGEST, TURNS = 3, 0.4, 2
SLOW = 0.02
"""Seconds for the smaller argument from which on the larger one is not tried."""


def growth(job: dict[str, Any], valid: set[int], end: float) -> list[list[float]]:
    """For some calls among the valid ones, enlarged: the seconds of old and new with the smaller and the larger
    arguments; LONGEST if one takes longer, 0 where one fails.
    """
    chosen = [each for each in job["grown"] if each[0] in valid][:MOST_GROWN]
    if not chosen:
        return []
    rows = [[float(each[0])] for each in chosen]
    for text in job["texts"][:2]:
        memory = mmap.mmap(-1, 16 * len(chosen))
        reading, writing = os.pipe()
        process = real_fork()
        if process == 0:
            os.close(reading)
            raise ForkBegun(grow, text, chosen, memory)
        os.close(writing)
        select.select([reading], [], [], max(0.0, min(end, real_clock() + 3 * LONGEST * len(chosen)) - real_clock()))
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        os.close(reading)
        spent = memoryview(memory).cast("d")
        for number in range(len(rows)):
            rows[number] += spent[2 * number : 2 * number + 2].tolist()
    return rows


def grow(job: dict[str, Any], text: str, chosen: list[Any], memory: Any) -> None:
    """Fills the memory with seconds."""
    spent = memoryview(memory).cast("d")
    pins = Pins(job["reads"], job["folder"])
    pins.install([text])
    sys.stdout = sys.stderr = io.StringIO()
    pins.start()
    space = load(job, text)
    runner = CallRunner(job, pins, space, CallTimeLimit(LONGEST, 5))
    for number, (_, body, *setups) in enumerate(chosen):
        for size, setup in enumerate(setups):
            times = [timed(runner, dict(space), setup, body) for _ in range(TURNS)]
            spent[2 * number + size] = min(times)
            if not 0 < min(times) < SLOW:
                break


def timed(runner: CallRunner, space: dict[str, Any], setup: str, body: str) -> float:
    """The seconds of a call's body, 0 if it fails."""
    watch = Stopwatch(runner.settled, real_thread_work)  # the process' time is coarse while a timer is set
    space["__out__"] = watch.consume
    try:
        exec(setup, space)
        runner.pins.inside = runner.armed = True
        signal.setitimer(signal.ITIMER_PROF, LONGEST, 0.05)
        watch.start()
        exec(body, space)
        watch.stop()
    except CallTimeout:
        return LONGEST
    except BaseException:
        return 0.0
    finally:
        runner.pins.inside = runner.armed = False
        signal.setitimer(signal.ITIMER_PROF, 0)
    return max(watch.spent, 1e-6)

"""Checks what the inputs execute: runs the texts again with probes in changed places. Outcomes do not count here."""

from __future__ import annotations

import builtins
import io
import mmap
import os
import select
import signal
import sys
from typing import Any

from stet_ls.engine.execution.python.inside.call import CallRunner, CallTimeLimit
from stet_ls.engine.execution.python.inside.determinism import Pins
from stet_ls.engine.execution.python.inside.fork import ForkBegun
from stet_ls.engine.execution.python.inside.loading import load
from stet_ls.engine.execution.python.inside.originals import real_clock, real_fork, real_work

LOOKS = 0.4
WRONG_KIND = ("TypeError", "AttributeError")


def unseen(job: dict[str, Any], calls: list[Any], end: float) -> list[list[int]] | None:
    """The probes of each text that no call reached; None if a text cannot run with them."""
    found: list[list[int]] = []
    for text, count in job["probed"]:
        if not count:
            found.append([])
            continue
        seen = mmap.mmap(-1, count + 1)  # the last one is set when the text is loaded
        reading, writing = os.pipe()
        process = real_fork()
        if process == 0:
            os.close(reading)
            raise ForkBegun(look, text, calls, seen, count)
        os.close(writing)
        select.select([reading], [], [], max(0.0, min(end, real_clock() + LOOKS * 6) - real_clock()))
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        os.close(reading)
        if not seen[count]:
            return None
        found.append([number for number in range(count) if not seen[number]])
    return found


def look(job: dict[str, Any], text: str, calls: list[Any], seen: Any, count: int) -> None:
    """Makes calls until all probes were reached, or for a while."""

    def came(number: int, value: Any = None, *other: Any) -> Any:
        try:
            if not other or value == other[0]:
                seen[number] = 1
        except Exception:  # incomparable values are not a tie
            return value
        return value

    setattr(builtins, job["probe"], came)
    pins = Pins(job["reads"], job["folder"])
    pins.install([text])
    sys.stdout = io.StringIO()
    pins.start()
    space = load(job, text)
    seen[count] = 1
    runner = CallRunner(job, pins, space, CallTimeLimit(4 * job["cpu"], 5))
    runner.is_held_against = False
    end = real_work() + LOOKS
    for _, (setup, body, names) in calls:
        before = seen[:count]
        found = runner.run(setup, body, names)
        if found["error"] in WRONG_KIND and found["error"] not in text:
            seen[:count] = before  # an argument of a kind that the code does not take shows nothing
        if real_work() > end or 0 not in seen[: count + 1]:
            return

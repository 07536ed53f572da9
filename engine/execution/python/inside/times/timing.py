"""Measures how long old and new take for all calls, in turns."""

from __future__ import annotations

import gc
import importlib.util
import json
import operator
import os
import select
import signal
import sys
from typing import Any

from stet_ls.engine.execution.python.inside.call import CallRunner, CallTimeLimit, idle
from stet_ls.engine.execution.python.inside.determinism import Pins
from stet_ls.engine.execution.python.inside.fork import ForkBegun
from stet_ls.engine.execution.python.inside.loading import load
from stet_ls.engine.execution.python.inside.originals import real_clock, real_fork, real_work
from stet_ls.engine.execution.python.inside.result_pipe import write_message
from stet_ls.engine.execution.python.inside.times.stopwatch import seconds

AGAIN, SHARE = 5, 0.4
COPYING = 0.4


def measure(job: dict[str, Any], calls: list[Any]) -> dict[str, Any]:
    """Seconds of each text for all calls together, round by round: when made the first time, and then `again`.

    Each text is loaded in a separate process, and each time is measured in a fork of that: no text can slow the other.
    Each call runs on an unused copy of the module, so that results cached for its input are gone for the next call, and
    when the input comes again on a new copy. The second calls show caching. A further copy, if each text has one, is
    called before any clock runs, so that what a first call loads outside the module is `warm`. That input is not
    measured: it may be cached outside of the copies.
    """
    begun = real_clock()
    end = begun + job["seconds"]
    distinct = list({each[1][:2]: each for each in calls}.values())
    job["threads"] = any(word in text for text in job["texts"] for word in ("thread", "concurrent"))
    servers = [TimingServer(text, distinct) for text in job["texts"]]
    try:
        loads = [server.hear(end) for server in servers]
        if problem := next((each["load"] for each in loads if each["load"]), ""):
            return {"timing": {"load": problem}}
        inputs = max(1, min(len(distinct) - 1, *(each["copies"] - 1 for each in loads)))
        warm = len(distinct) > inputs and all(each["copies"] > inputs for each in loads)
        slowest = max(turns(servers, 1, (inputs, warm, 1), begun, end)[0][0])
        forks = min(8, int(0.004 / max(slowest, 1e-5)) + 1) if slowest < 0.002 else 1
        rounds, again = turns(servers, job["rounds"], (inputs, warm, forks), begun + SHARE * job["seconds"], end)
    except (EOFError, IndexError):
        return {"timing": {"load": "it ended the process or took too long"}}
    finally:
        for server in servers:
            server.stop()
    return {"timing": {"load": "", "rounds": rounds, "again": again, "inputs": inputs, "warm": warm}}


def turns(
    servers: list[TimingServer], wanted: int, size: tuple[int, bool, int], middle: float, end: float
) -> tuple[list[list[float]], list[list[float]]]:
    """The seconds of the servers, round by round, as time allows: of first calls, and for some rounds of second ones.

    The servers alternate in going first. The `size` of a round is its inputs, whether it begins warm, and its forks.
    """
    first: list[list[float]] = []
    again: list[list[float]] = []
    while len(first) < wanted and real_clock() < end:
        times = 2 if len(again) < AGAIN and real_clock() < middle else 1
        order = servers[:: 1 if len(first) % 2 else -1]
        took = {id(server): server.time(*size, times, end) for server in order}
        first.append([took[id(server)][0] for server in servers])
        if times > 1:
            again.append([took[id(server)][1] for server in servers])
    return first, again


class TimingServer:
    """A process that loads a text, and forks each time the duration of the calls is requested."""

    def __init__(self, text: str, calls: list[Any]) -> None:
        asked, self.ask = os.pipe()
        self.reading, reply_pipe = os.pipe()
        self.buffer = b""
        self.process = real_fork()
        if self.process == 0:
            os.close(self.ask)
            os.close(self.reading)
            raise ForkBegun(served, text, calls, asked, reply_pipe)
        os.close(asked)
        os.close(reply_pipe)

    def hear(self, end: float) -> Any:
        while b"\n" not in self.buffer:
            ready = select.select([self.reading], [], [], max(0.0, end + 1 - real_clock()))[0]
            chunk = os.read(self.reading, 65536) if ready else b""
            if not chunk:
                raise EOFError
            self.buffer += chunk
        line, self.buffer = self.buffer.split(b"\n", 1)
        return json.loads(line)

    def time(self, inputs: int, warm: bool, forks: int, times: int, end: float) -> list[float]:
        """The seconds of all forks together, for each time that the calls are made in one."""
        spent = [0.0] * times
        for _ in range(forks):
            os.write(self.ask, b"%d %d %d\n" % (inputs, warm, times))
            spent = list(map(operator.add, spent, self.hear(end)["seconds"]))
        return spent

    def stop(self) -> None:
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        os.close(self.ask)
        os.close(self.reading)


def served(job: dict[str, Any], text: str, calls: list[Any], asked: int, reply_pipe: int) -> None:
    pins = Pins(job["reads"], job["folder"])
    pins.install([text])
    sys.stdout = open(os.devnull, "w")
    try:
        modules = copies(job, text, len(calls) + 1)
    except BaseException as error:
        write_message(reply_pipe, {"load": f"{type(error).__name__}: {str(error)[:300]}"})
        return
    gc.freeze()  # the collector then scans a call's objects, not all copies
    write_message(reply_pipe, {"load": "", "copies": len(modules)})
    runner = CallRunner(job, pins, {}, CallTimeLimit(job["cpu"], 1))
    # Processor time does not depend on the machine's load; but threads in parallel would count several times.
    clock = real_clock if job["threads"] else real_work
    if "async" in text:
        runner.settled(idle())  # creates its loop before any clock runs
    for line in open(asked, "rb", buffering=0):
        inputs, warm, times = map(int, line.split())
        process = real_fork()
        if process == 0:
            # The last calls are the largest.
            pairs = list(zip(modules[-inputs:], calls[-inputs:]))  # noqa: B905 - as Python 3.8 has it
            if warm:
                seconds([(modules[0], calls[-inputs - 1])], runner, clock)
            write_message(reply_pipe, {"seconds": [seconds(pairs, runner, clock) for _ in range(times)]})
            return
        os.waitpid(process, 0)


def copies(job: dict[str, Any], text: str, wanted: int) -> list[Any]:
    """The text as independent modules: as many as load in a short time, at least one."""
    begun = real_clock()
    made: list[Any] = [sys.modules[load(job, text)["__name__"]]]
    while len(made) < wanted and real_clock() - begun < COPYING:
        try:
            copy = importlib.util.module_from_spec(made[0].__spec__)
            sys.modules[copy.__name__] = copy
            made[0].__spec__.loader.exec_module(copy)
        except Exception:  # it registers itself somewhere, and cannot be loaded twice
            break
        made.append(copy)
    return made

"""Runs a text's calls in a separate fork, watched by the parent."""

from __future__ import annotations

import io
import json
import mmap
import os
import select
import signal
import sys
from typing import Any

from stet_ls.engine.execution.python.inside.call import SHOWN, CallRunner, CallTimeLimit, idle, lacked
from stet_ls.engine.execution.python.inside.determinism import Pins
from stet_ls.engine.execution.python.inside.loading import load
from stet_ls.engine.execution.python.inside.originals import real_clock, real_fork
from stet_ls.engine.execution.python.inside.result_pipe import ResultPipe, write_message

BATCH = 0.02


class ForkBegun(BaseException):
    """A fork begins: raised through all frames of its parent, so that no frame holds the other texts' results."""


def forked(
    job: dict[str, Any], text: str, calls: list[Any], end: float, time_limit: CallTimeLimit, wanted: int
) -> dict[str, Any]:
    """A fork's report of the calls. If it stops or dies, the current call is left out.

    Its buffered outcomes are then lost: another fork repeats the calls and reports each outcome at once.
    """
    late = time_limit.late, time_limit.seconds
    result = attempt(job, text, calls, end, time_limit, wanted, BATCH)
    if result["lost"]:
        time_limit.late, time_limit.seconds = late
        again = attempt(job, text, calls, end, time_limit, wanted, 0.0)
        result["outcomes"] = {**result["outcomes"], **again["outcomes"]}
    return result


def attempt(
    job: dict[str, Any], text: str, calls: list[Any], end: float, time_limit: CallTimeLimit, wanted: int, every: float
) -> dict[str, Any]:
    reading, writing = os.pipe()
    at = memoryview(mmap.mmap(-1, 16)).cast("q")
    process = real_fork()
    if process == 0:
        os.close(reading)
        raise ForkBegun(child, text, calls, ResultPipe(writing, at, every), time_limit, wanted)
    os.close(writing)
    result: dict[str, Any] = {
        "load": "it ended the process",
        "gave_up": False,
        "lacks": "",
        "outcomes": {},
        "side_effects": [],
        "over": False,
    }
    last, seen, buffer, stuck = real_clock(), 0, b"", "died"
    is_loaded = False
    while True:
        if at[1] != seen:
            last, seen = real_clock(), at[1]
        left = min(end, last + job["stall"]) - real_clock()
        if left > 0 and not select.select([reading], [], [], min(left, 0.1))[0]:
            continue
        if left <= 0:
            stuck = "late" if end > last + job["stall"] else "unfinished"
            if not is_loaded:
                result["load"], result["gave_up"] = f"it takes longer than {job['stall']:.0f} seconds", True
            break
        chunk = os.read(reading, 65536)
        if not chunk:
            break
        last = real_clock()
        *lines, buffer = (buffer + chunk).split(b"\n")
        for line in lines:
            message = json.loads(line)
            if "load" in message:
                result["load"], result["lacks"] = message["load"], message.get("lacks", "")
                is_loaded = True
            elif "over" in message:
                result["side_effects"], result["over"] = message["over"], True
            else:
                result["outcomes"].update(message["ended"])
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    os.close(reading)
    ended(result, at, calls, stuck, every)
    return result


def ended(result: dict[str, Any], at: Any, calls: list[Any], stuck: str, every: float) -> None:
    """Charges a fork's end to its current call, or to the next one if it ended between two calls."""
    number = at[0] - 1 if at[0] else None
    result["lost"] = every > 0 and stuck != "unfinished" and at[1] > len(result["outcomes"]) + (number is not None)
    if number is None and not result["over"]:  # it ended between two calls
        number = next((call[0] for call in calls if call[0] not in result["outcomes"]), None)
    if number is not None and number not in result["outcomes"] and stuck != "unfinished" and not result["load"]:
        result["outcomes"][number] = {"kind": stuck, "digest": stuck}


def child(
    job: dict[str, Any], text: str, calls: list[Any], line: ResultPipe, time_limit: CallTimeLimit, wanted: int
) -> None:
    """Loads a text and runs the calls; reports when a call begins, and its outcome."""
    pipe = line.pipe
    pins = Pins(job["reads"], job["folder"])
    pins.install([text])
    printed, sys.stdout = sys.stdout, io.StringIO()
    try:
        pins.start()
        space = load(job, text)
        missing = job["target"].split(".")[0]
        if missing and missing not in space:
            raise NameError(f"there is no `{missing}` in it")
    except BaseException as error:
        name = type(error).__name__
        # The code chooses that name, and the reader knows the harness' own reasons by their words.
        name = name if name.isidentifier() else "Exception"
        write_message(pipe, {"load": f"{name}: {str(error)[:300]}", "lacks": lacked(error)})
        return
    captured_output, sys.stdout = sys.stdout, printed
    if isinstance(captured_output, io.StringIO) and captured_output.getvalue():
        pins.side_effects[f"it prints {captured_output.getvalue()[:SHOWN]!r}"] = None
    pins.compare_all()
    write_message(pipe, {"load": ""})
    runner = CallRunner(job, pins, space, time_limit)
    if "async" in text:
        runner.settled(idle())  # otherwise the first call pays for the loop, and is too late on a busy machine
    valid = 0
    for number, (setup, body, names) in calls:
        line.begin(number)
        outcome = runner.run(setup, body, names)
        line.end(number, outcome)
        valid += is_valid(outcome)
        if outcome["kind"] == "late":
            time_limit.lose()
        if valid >= wanted or time_limit.ends:
            break
    pins.compare_all()
    line.over(list(pins.side_effects))


def is_valid(outcome: dict[str, Any]) -> bool:
    """Whether the code accepted the input, even if it raised an error of its own."""
    wrong = ("TypeError", "AttributeError", "NameError", "UnboundLocalError")
    return outcome["kind"] == "ok" or (outcome["kind"] == "raised" and outcome["error"] not in wrong)

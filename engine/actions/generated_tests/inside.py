"""Runs inside the sandbox: runs tests on a module and on changed texts of it, each in its own fork.

Needs Python 3.8. The tests run under pytest if it is installed, else under unittest's loader. Plain functions need no
runner, which takes ten times as long: they are called directly if all of them pass that way on the unchanged text.
Reads one job (JSON, the path is its argument, see `mutant_trial.py`) and writes one report to the descriptor
BOX_REPORT_FD. A trace function records which lines of the module ran: coverage.py is not needed.
"""

from __future__ import annotations

import json
import os
import select
import sys
import time
from typing import Any, Callable  # noqa: UP035 - as Python 3.8 has them

# Both are next to this file in the sandbox.
from box_program import (  # type: ignore[import-not-found]
    InThisProcess,
    Tracer,
    finish,
    load,
    received,
    run_pytest,
    send,
    serve,
    silence,
    succeeds,
)
from processes import Clock  # type: ignore[import-not-found]

del sys.modules["processes"], sys.modules["box_program"]  # the tests may import their own modules of these names
PERIOD = 0.02

try:
    import pytest
except ImportError:
    pytest = None  # type: ignore[assignment]


def main() -> None:
    job, report = received()
    left, latest = job["seconds"], time.monotonic() + job["wall"]
    called = job["plain"] or pytest is None
    # Without a first run on the unchanged text, results on mutants prove nothing.
    own = attempt(job, None, report, left / 3 if called and pytest else left - 1, latest, called)
    if called and pytest is not None and not all_good(job, own):
        called, left = False, left - own["took"]
        own = attempt(job, None, report, left - 1, latest, called)
    left -= own["took"]
    allowed = max(1.0, 4 * own["took"])
    changed = []
    for text in job["texts"]:
        # A run that is cut off would count as detected: each gets its full time, or is not tried.
        if left < allowed or not own["done"]:
            break
        run = attempt(job, text, report, allowed, latest, called)
        if run["starved"]:
            break
        left -= run["took"]
        changed.append(run)
    # After all others: a test that depends on how mutants are run, or how often, fails here too.
    same = attempt(job, job["same"], report, allowed, latest + allowed, called) if own["done"] else own
    send(report, {"nonce": job["nonce"], "own": own, "changed": changed, "same": same})


def all_good(job: Any, run: Any) -> bool:
    return run["done"] and all(run["tests"].get("{}::{}".format(job["file"], each)) for each in job["tests"])


def attempt(job: Any, text: Any, report: int, seconds: float, latest: float, called: bool) -> Any:
    """One run of all tests, by pytest or just `called`: their outcomes, which began, whether the run finished.

    It gets `seconds`, without those spent waiting for a core; if some are left at the moment `latest`, it is `starved`.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(report)
        os.close(reader)
        code = 1
        try:
            silence()
            if text is not None:
                serve(job["target"], text)
            watch = TestWatch(writer, job["target"] if text is None else "")
            (by_hand if called else by_pytest)(job, watch)
            watch.say({"done": True})
            code = 0
        finally:
            os._exit(code)
    os.close(writer)
    data, chunk, clock = b"", b"-", Clock(child)
    while chunk and not clock.is_late(seconds) and time.monotonic() < latest:
        if select.select([reader], [], [], PERIOD)[0]:
            chunk = os.read(reader, 1 << 16)
            data += chunk
    took = clock.read()
    finish(child, reader)
    return {**read(data), "took": took, "starved": bool(chunk) and took < seconds}


def read(data: bytes) -> Any:
    run: Any = {"tests": {}, "lines": {}, "began": [], "done": False}
    for line in data.split(b"\n"):
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if "done" in row:
            run["done"] = True
        elif "began" in row:
            run["began"].append(row["began"])
        else:
            run["tests"][row["test"]] = row["good"]
            run["lines"][row["test"]] = row["lines"]
    return run


class TestWatch(InThisProcess):  # type: ignore[misc]
    """Reports how tests end; a plugin for pytest. `traced`: the file whose lines are traced, "" for none."""

    def __init__(self, pipe: int, traced: str) -> None:
        self.pipe, self.is_tracing, self.tracer = pipe, bool(traced), Tracer(traced)
        self.owner = os.getpid()

    def say(self, row: Any) -> None:
        if os.getpid() == self.owner:
            os.write(self.pipe, json.dumps(row).encode() + b"\n")

    def begin(self, test: str) -> None:
        self.good, self.tracer.lines = True, set()
        self.say({"began": test})
        if self.is_tracing:
            sys.settrace(self.tracer.call)

    def end(self, test: str) -> None:
        sys.settrace(None)
        self.say({"test": test, "good": self.good, "lines": sorted(self.tracer.lines)})

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.begin(nodeid)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self.end(nodeid)


def by_pytest(job: Any, watch: TestWatch) -> None:
    run_pytest([*job["arguments"], *("{}::{}".format(job["file"], each) for each in job["tests"])], watch)


def by_hand(job: Any, watch: TestWatch) -> None:
    """Runs tests that need no runner: unittest's cases, and functions without parameters."""
    import unittest

    sys.path.insert(0, os.path.dirname(os.path.abspath(job["file"])))
    module = load("stet_own_tests", job["file"])
    for each in job["tests"]:
        owner, _, name = each.rpartition("::")
        case = getattr(module, owner)(name) if owner else getattr(module, name)
        watch.begin("{}::{}".format(job["file"], each))
        watch.good = succeeds(case) if isinstance(case, unittest.TestCase) else _holds(case)
        watch.end("{}::{}".format(job["file"], each))


def _holds(function: Callable[[], Any]) -> bool:
    try:
        function()
    except BaseException:  # pytest.fail raises a BaseException
        return False
    return True


if __name__ == "__main__":
    main()

"""Runs inside the sandbox: runs tests on a module and on changed texts of it, each in its own fork.

Needs Python 3.8. The tests run under pytest if it is installed, else under unittest's loader. Plain functions need no
runner, which takes ten times as long: they are called directly if all of them pass that way on the unchanged text.
Reads one job (JSON, the path is its argument, see `mutant_trial.py`) and writes one report to the descriptor
BOX_REPORT_FD. A trace function records which lines of the module ran: coverage.py is not needed.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import json
import os
import select
import signal
import sys
import time
from typing import Any, Callable  # noqa: UP035 - as Python 3.8 has them

from processes import Clock  # type: ignore[import-not-found]  # next to this file in the sandbox

del sys.modules["processes"]  # the tests may import their own module of that name
PERIOD = 0.02

try:
    import pytest
except ImportError:
    pytest = None  # type: ignore[assignment]


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as file:
        job = json.load(file)
    os.unlink(sys.argv[1])
    report = int(os.environ.pop("BOX_REPORT_FD"))
    os.set_inheritable(report, False)
    sys.path[0] = os.getcwd()
    sys.dont_write_bytecode = True
    left, end = job["seconds"], time.monotonic() + job["wall"]
    called = job["plain"] or pytest is None
    # Without a first run on the unchanged text, results on mutants prove nothing.
    own = attempt(job, None, report, left / 3 if called and pytest else left - 1, end, called)
    if called and pytest is not None and not all_good(job, own):
        called, left = False, left - own["took"]
        own = attempt(job, None, report, left - 1, end, called)
    left -= own["took"]
    allowed = max(1.0, 4 * own["took"])
    changed = []
    for text in job["texts"]:
        # A run that is cut off would count as detected: each gets its full time, or is not tried.
        if left < allowed or not own["done"]:
            break
        run = attempt(job, text, report, allowed, end, called)
        if run["starved"]:
            break
        left -= run["took"]
        changed.append(run)
    # After all others: a test that depends on how mutants are run, or how often, fails here too.
    same = attempt(job, job["same"], report, allowed, end + allowed, called) if own["done"] else own
    data = json.dumps({"nonce": job["nonce"], "own": own, "changed": changed, "same": same}).encode()
    while data:
        data = data[os.write(report, data) :]


def all_good(job: Any, run: Any) -> bool:
    return run["done"] and all(run["tests"].get("{}::{}".format(job["file"], each)) for each in job["tests"])


def attempt(job: Any, text: Any, report: int, seconds: float, end: float, called: bool) -> Any:
    """One run of all tests, by pytest or just `called`: their outcomes, which began, whether the run finished.

    It gets `seconds`, without those spent waiting for a core; if some are left at the moment `end`, it is `starved`.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(report)
        os.close(reader)
        code = 1
        try:
            quiet = os.open(os.devnull, os.O_WRONLY)
            os.dup2(quiet, 1)
            os.dup2(quiet, 2)
            if text is not None:
                replace(job["target"], text)
            watch = Watch(writer, job["target"] if text is None else "")
            (by_hand if called else by_pytest)(job, watch)
            watch.say({"done": True})
            code = 0
        finally:
            os._exit(code)
    os.close(writer)
    data, chunk, clock = b"", b"-", Clock(child)
    while chunk and not clock.is_late(seconds) and time.monotonic() < end:
        if select.select([reader], [], [], PERIOD)[0]:
            chunk = os.read(reader, 1 << 16)
            data += chunk
    took = clock.read()
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(reader)
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


def replace(target: str, text: str) -> None:
    """Makes `text` the source of the module at this path, under any import name."""
    path = os.path.realpath(target)
    plain = importlib.machinery.SourceFileLoader.get_code

    def get_code(self: Any, fullname: str) -> Any:
        if os.path.realpath(self.path) == path:
            return compile(text, self.path, "exec", dont_inherit=True)
        return plain(self, fullname)

    importlib.machinery.SourceFileLoader.get_code = get_code  # type: ignore[method-assign]


class Watch:
    """Reports how tests end; a plugin for pytest. `traced`: the file whose lines are traced, "" for none."""

    def __init__(self, pipe: int, traced: str) -> None:
        self.pipe, self.traced = pipe, os.path.realpath(traced) if traced else ""
        self.good, self.lines = True, set()  # type: ignore[var-annotated]
        self.known: Any = {}
        self.owner = os.getpid()

    def say(self, row: Any) -> None:
        if os.getpid() == self.owner:
            os.write(self.pipe, json.dumps(row).encode() + b"\n")

    def begin(self, test: str) -> None:
        self.good, self.lines = True, set()
        self.say({"began": test})
        if self.traced:
            sys.settrace(self.call)

    def end(self, test: str) -> None:
        sys.settrace(None)
        self.say({"test": test, "good": self.good, "lines": sorted(self.lines)})

    def call(self, frame: Any, event: str, value: Any) -> Any:
        name = frame.f_code.co_filename
        if name not in self.known:
            self.known[name] = os.path.realpath(name) == self.traced
        return self.line if self.known[name] else None

    def line(self, frame: Any, event: str, value: Any) -> Any:
        if event == "line":
            self.lines.add(frame.f_lineno)
        return self.line

    def pytest_configure(self, config: Any) -> None:
        # Tests run in this process: lines and outcomes in another process would be lost.
        if getattr(config.option, "dist", "no") != "no" or getattr(config.option, "numprocesses", None):
            config.option.dist, config.option.numprocesses, config.option.tx = "no", 0, []

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.begin(nodeid)

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.good = self.good and not report.failed

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self.end(nodeid)


def by_pytest(job: Any, watch: Watch) -> None:
    arguments = ["-p", "no:cacheprovider", "-q", *job["arguments"]]
    if importlib.util.find_spec("pytest_cov") and "PYTEST_DISABLE_PLUGIN_AUTOLOAD" not in os.environ:
        arguments.insert(0, "--no-cov")  # a process can have only one tracer
    pytest.main([*arguments, *("{}::{}".format(job["file"], each) for each in job["tests"])], plugins=[watch])


def by_hand(job: Any, watch: Watch) -> None:
    """Runs tests that need no runner: unittest's cases, and functions without parameters."""
    import unittest

    sys.path.insert(0, os.path.dirname(os.path.abspath(job["file"])))
    spec = importlib.util.spec_from_file_location("stet_own_tests", job["file"])
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["stet_own_tests"] = module
    spec.loader.exec_module(module)
    for each in job["tests"]:
        owner, _, name = each.rpartition("::")
        case = getattr(module, owner)(name) if owner else getattr(module, name)
        watch.begin("{}::{}".format(job["file"], each))
        watch.good = _passes(case) if isinstance(case, unittest.TestCase) else _holds(case)
        watch.end("{}::{}".format(job["file"], each))


def _passes(case: Any) -> bool:
    import unittest

    result = unittest.TestResult()
    case.run(result)
    return result.wasSuccessful()


def _holds(function: Callable[[], Any]) -> bool:
    try:
        function()
    except BaseException:  # pytest.fail raises a BaseException
        return False
    return True


if __name__ == "__main__":
    main()

"""pytest with a reporter that reports while tests run: results up to a crash are kept."""

from __future__ import annotations

import importlib.util
import inspect
import json
import os
import sys
import time
import types
import unittest
from collections.abc import Iterator
from typing import Any

from .channel import Channel
from .control import ControlTests, PassedTest, debugged
from .failures import described, safe_repr
from .measured import Measurement
from .project_path import enter_project
from .watch import TamperWatch

_TAIL = 2_000


def main() -> None:
    """Runs pytest with the arguments of the command line, as `python -m pytest` would."""
    folder = sys.path[0]
    channel = Channel(folder)
    enter_project()
    path = os.path.join(folder, "job.json")
    with open(path, encoding="utf-8") as file:
        job = json.load(file)
    os.unlink(path)
    try:
        import pytest
    except ImportError as error:
        channel.say("missing", program="pytest", message=str(error))
        sys.exit(127)
    measured = Measurement(channel, job["coverage"], job["traced"], job["captured"])
    arguments = list(job["arguments"])
    traced = (job["traced"] or job["captured"]) and sys.version_info < (3, 12)  # later versions allow several tracers
    if (job["coverage"] or traced) and "--no-cov" not in arguments and _measures_itself(job):
        arguments.insert(0, "--no-cov")  # a process can have only one tracer
    reporter = Reporter(channel, measured, ControlTests(job["control"]), TamperWatch(channel, job["tests"]))
    pytest.hookimpl(hookwrapper=True)(Reporter.pytest_runtestloop)
    code = pytest.main(arguments, plugins=[reporter])
    measured.report()
    channel.say("done", exit=int(code))
    sys.stdout.flush()
    sys.exit(int(code))


def _measures_itself(job: dict[str, Any]) -> bool:
    """Whether the project's own configuration may start coverage.py."""
    loads = job["plugins"] and not os.environ.get("PYTEST_DISABLE_PLUGIN_AUTOLOAD")
    return bool(loads) and importlib.util.find_spec("pytest_cov") is not None


class Reporter:
    """The hooks; each reports one line."""

    def __init__(self, channel: Channel, measured: Measurement, control: ControlTests, watch: TamperWatch) -> None:
        self._channel, self._measured = channel, measured
        self._control, self._watch = control, watch
        self._passed: dict[str, float] = {}
        self._compared: dict[str, str] | None = None
        self._started = 0.0

    def pytest_configure(self, config: Any) -> None:
        """Runs tests in this process, to report each one as it runs."""
        if getattr(config.option, "dist", "no") != "no" or getattr(config.option, "numprocesses", None):
            config.option.dist, config.option.numprocesses, config.option.tx = "no", 0, []

    def pytest_load_initial_conftests(self) -> None:
        """Starts the watch and the measurement at the last moment before files of the project are loaded."""
        self._watch.begin()
        self._measured.start()

    def pytest_runtestloop(self, session: Any) -> Iterator[None]:
        """Runs the control tests after the project's; pytest does not count them."""
        yield
        self._measured.end_capture()
        items = [item for item in session.items if hasattr(item, "obj")]
        if not items or session.config.option.collectonly:
            return
        failed = session.testsfailed
        for item in self._controls(items):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        session.testsfailed = failed
        self._watch.end()

    def _controls(self, items: list[Any]) -> Iterator[Any]:
        import pytest

        last = items[-1]
        module = last.getparent(pytest.Module) or last.parent
        for made in (self._control.good(), self._control.bad()):
            yield pytest.Function.from_parent(module, name=made.__name__, callobj=made)
        passed = [
            PassedTest(item.function, self._passed[item.nodeid], item)
            for item in items
            if item.nodeid in self._passed and inspect.isfunction(getattr(item, "function", None))
        ]
        for copy in self._control.copies(passed):
            item = copy.test.item
            case = getattr(item, "cls", None)
            if case is not None and issubclass(case, unittest.TestCase):
                call = debugged(case, copy)
                yield pytest.Function.from_parent(module, name=copy.name, callobj=call)
                continue
            call = copy.function if case is None else types.MethodType(copy.function, case())
            more = {"callspec": item.callspec} if hasattr(item, "callspec") else {}
            yield pytest.Function.from_parent(
                item.parent, name=copy.name, callobj=call, fixtureinfo=item._fixtureinfo, **more
            )

    def pytest_collection_finish(self, session: Any) -> None:
        """Reports the collected tests before the first runs."""
        self._channel.say("collected", ids=[item.nodeid for item in session.items])

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Reports that a test begins."""
        self._compared, self._started = None, time.monotonic()
        self._channel.say("start", id=nodeid)
        self._measured.during(nodeid)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """Reports that a test is over."""
        self._measured.during("")
        self._watch.look()
        self._channel.say("end", id=nodeid, seconds=time.monotonic() - self._started)

    def pytest_assertrepr_compare(self, op: str, left: object, right: object) -> None:
        """Keeps the two sides of the last comparison that did not hold."""
        self._compared = {"operator": op, "left": safe_repr(left), "right": safe_repr(right)}

    def pytest_runtest_makereport(self, item: Any, call: Any) -> None:
        """Reports why a phase of a test failed, while the exception is available; its verdict follows separately.

        What makes the verdict is looked at before: code under test may replace it until then.
        """
        self._watch.look()
        if call.excinfo is None:
            return
        error = call.excinfo.value
        failure = described(error, call.excinfo.tb)
        if isinstance(error, AssertionError) and self._compared:
            failure["comparison"] = self._compared
        self._channel.say("raised", id=item.nodeid, phase=call.when, failure=failure)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Reports how a phase of a test ended."""
        reason = ""
        if report.when == "call" and report.passed:
            self._passed[report.nodeid] = report.duration
        if report.skipped and isinstance(report.longrepr, tuple):
            reason = str(report.longrepr[2])
        self._channel.say(
            "phase",
            id=report.nodeid,
            phase=report.when,
            outcome=report.outcome,
            expected_failure=getattr(report, "wasxfail", None),
            reason=reason,
            stdout=report.capstdout[-_TAIL:],
        )

    def pytest_exception_interact(self, node: Any, call: Any, report: Any) -> None:
        """Reports why a file could not be collected; the cause of pytest's own error is the real one."""
        if getattr(report, "when", "collect") != "collect" or call.excinfo is None:
            return
        error = call.excinfo.value
        # pytest rephrases the cause of an import error and drops its type.
        cause = error.__cause__ or error
        self._channel.say("uncollected", path=node.nodeid, failure=described(cause), text=str(report.longrepr)[-_TAIL:])

    def pytest_internalerror(self, excinfo: Any) -> None:
        """Reports that pytest itself failed: a plugin's error, or `sys.exit` while a file was imported."""
        self._channel.say("broken", failure=described(excinfo.value, excinfo.tb))

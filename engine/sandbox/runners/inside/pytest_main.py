"""pytest with a reporter that speaks while the tests run: whatever ends the process, what ran until then is told."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import time
from typing import Any

from .channel import Channel
from .failures import described, shown
from .measured import Measured

_TAIL = 2_000


def main() -> None:
    """Runs pytest with the arguments of the command line, as `python -m pytest` would."""
    folder = sys.path[0]
    channel = Channel(folder)
    sys.path[0] = os.getcwd()
    with open(os.path.join(folder, "job.json"), encoding="utf-8") as file:
        job = json.load(file)
    try:
        import pytest
    except ImportError as error:
        channel.say("missing", program="pytest", message=str(error))
        sys.exit(127)
    measured = Measured(channel, job["coverage"])
    arguments = list(job["arguments"])
    if job["coverage"] and "--no-cov" not in arguments and importlib.util.find_spec("pytest_cov") and job["plugins"]:
        arguments.insert(0, "--no-cov")  # there is one tracer for a process
    code = pytest.main(arguments, plugins=[Reporter(channel, measured)])
    measured.tell()
    channel.say("done", exit=int(code))
    sys.stdout.flush()
    sys.exit(int(code))


class Reporter:
    """The hooks; each says one line."""

    def __init__(self, channel: Channel, measured: Measured) -> None:
        self._channel, self._measured = channel, measured
        self._compared: dict[str, str] | None = None
        self._started = 0.0

    def pytest_configure(self, config: Any) -> None:
        """Tests run in this process: another one's would not be told while they run."""
        if getattr(config.option, "dist", "no") != "no" or getattr(config.option, "numprocesses", None):
            config.option.dist, config.option.numprocesses, config.option.tx = "no", 0, []

    def pytest_collection_finish(self, session: Any) -> None:
        """Says which tests there are, before the first runs."""
        self._channel.say("collected", ids=[item.nodeid for item in session.items])

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """A test begins."""
        self._compared, self._started = None, time.monotonic()
        self._channel.say("start", id=nodeid)
        self._measured.during(nodeid)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """A test is over."""
        self._measured.during("")
        self._channel.say("end", id=nodeid, seconds=time.monotonic() - self._started)

    def pytest_assertrepr_compare(self, op: str, left: object, right: object) -> None:
        """Keeps the two sides of the last comparison that did not hold."""
        self._compared = {
            "operator": op,
            "left": shown(left),
            "right": shown(right),
            "left_type": type(left).__name__,
            "right_type": type(right).__name__,
        }

    def pytest_runtest_makereport(self, item: Any, call: Any) -> None:
        """Says why a phase of a test failed, while the exception is at hand; the verdict comes with the report."""
        if call.excinfo is None:
            return
        error = call.excinfo.value
        told = described(error, call.excinfo.tb)
        if isinstance(error, AssertionError) and self._compared:
            told["comparison"] = self._compared
        self._channel.say("raised", id=item.nodeid, phase=call.when, failure=told)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Says how a phase of a test ended."""
        reason = ""
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
        """Says why a file could not be collected; the cause of pytest's own error is the real one."""
        if getattr(report, "when", "collect") != "collect" or call.excinfo is None:
            return
        error = call.excinfo.value
        # pytest words the cause of an import error anew and drops its type.
        cause = error.__cause__ or error
        self._channel.say("uncollected", path=node.nodeid, failure=described(cause), text=str(report.longrepr)[-_TAIL:])

    def pytest_internalerror(self, excinfo: Any) -> None:
        """Says that pytest itself failed: a plugin's error, or `sys.exit` while a file was imported."""
        self._channel.say("broken", failure=described(excinfo.value, excinfo.tb))

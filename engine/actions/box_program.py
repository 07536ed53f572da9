"""What programs inside the sandbox share that run a project's tests many times, each time in a fork.

Needs Python 3.8. It is placed next to such a program, see `generated_tests/inside.py` and `repair_search/inside.py`.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import json
import os
import signal
import sys
from typing import Any


def received() -> Any:
    """The job (JSON, the path is the program's argument), and the descriptor of BOX_REPORT_FD for its report."""
    with open(sys.argv[1], encoding="utf-8") as file:
        job = json.load(file)
    os.unlink(sys.argv[1])
    report = int(os.environ.pop("BOX_REPORT_FD"))
    os.set_inheritable(report, False)
    sys.path[0] = os.getcwd()
    if os.path.isdir("src"):  # a project that is not installed
        sys.path.append(os.path.abspath("src"))
    sys.dont_write_bytecode = True
    return job, report


def send(report: int, answer: Any) -> None:
    data = json.dumps(answer).encode()
    while data:
        data = data[os.write(report, data) :]


def silence() -> None:
    """Drops what the project's code prints."""
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)


def finish(child: int, reader: int) -> None:
    """Ends a fork, which may have ended already, and closes the pipe from it."""
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(reader)


def serve(path: str, text: str) -> None:
    """Makes `text` the source of the module at this path, under any import name."""
    path = os.path.realpath(path)
    plain = importlib.machinery.SourceFileLoader.get_code

    def get_code(self: Any, fullname: str) -> Any:
        if os.path.realpath(self.path) == path:
            return compile(text, self.path, "exec", dont_inherit=True)
        return plain(self, fullname)

    importlib.machinery.SourceFileLoader.get_code = get_code  # type: ignore[method-assign]


def load(name: str, path: str) -> Any:
    """The module of a file, under a name of our own."""
    spec: Any = importlib.util.spec_from_file_location(name, path)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def succeeds(case: Any) -> bool:
    """Runs a case of unittest."""
    import unittest

    result = unittest.TestResult()
    case.run(result)
    return result.wasSuccessful()


def run_pytest(arguments: Any, plugin: Any) -> None:
    import pytest

    arguments = ["-p", "no:cacheprovider", "-q", *arguments]
    if importlib.util.find_spec("pytest_cov") and "PYTEST_DISABLE_PLUGIN_AUTOLOAD" not in os.environ:
        arguments.insert(0, "--no-cov")  # a process can have only one tracer
    pytest.main(arguments, plugins=[plugin])


class InThisProcess:
    """A plugin for pytest: tests run in this process, since lines and outcomes in another would be lost.

    `good` is whether nothing failed since it was set.
    """

    good = True

    def pytest_configure(self, config: Any) -> None:
        if getattr(config.option, "dist", "no") != "no" or getattr(config.option, "numprocesses", None):
            config.option.dist, config.option.numprocesses, config.option.tx = "no", 0, []

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.good = self.good and not report.failed


class Tracer:
    """Collects the lines of the file at a path that run. `call` is the function for `sys.settrace`."""

    def __init__(self, path: str) -> None:
        self.lines = set()  # type: ignore[var-annotated]
        self.path = os.path.realpath(path)
        self.known: Any = {}

    def call(self, frame: Any, event: str, value: Any) -> Any:
        name = frame.f_code.co_filename
        if name not in self.known:
            self.known[name] = os.path.realpath(name) == self.path
        return self.line if self.known[name] else None

    def line(self, frame: Any, event: str, value: Any) -> Any:
        if event == "line":
            self.lines.add(frame.f_lineno)
        return self.line

"""unittest with a reporter that reports while the tests run, for interpreters without pytest.

Plain functions and methods that are written for pytest but need none of its features run as well.
"""

from __future__ import annotations

import importlib
import inspect
import io
import json
import os
import sys
import time
import traceback
import unittest
from collections.abc import Iterator
from types import ModuleType, TracebackType
from typing import Any

from .channel import Channel
from .control import ControlTests, PassedTest, debugged
from .failures import described, safe_repr
from .measured import Measurement
from .project_path import enter_project
from .watch import TamperWatch


def main() -> None:
    """Loads the test files by their paths and runs their tests."""
    folder = sys.path[0]
    channel = Channel(folder)
    enter_project()
    path = os.path.join(folder, "job.json")
    with open(path, encoding="utf-8") as file:
        job = json.load(file)
    os.unlink(path)
    measured = Measurement(channel, job["coverage"], job["traced"], job["captured"])
    paths = job["tests"] or _discovered()
    watch = TamperWatch(channel, paths)
    watch.begin()
    measured.start()
    ids: dict[int, str] = {}
    suite = unittest.TestSuite(_load(path, channel, ids) for path in paths)
    tests = [test for test in _flat(suite) if not job["select"] or ids[id(test)] in job["select"]]
    channel.say("collected", ids=[ids[id(test)] for test in tests])
    result = Reporter(channel, measured, ids, watch)
    unittest.TestSuite(tests).run(result)
    measured.end_capture()
    code = 0 if result.wasSuccessful() else 1
    if tests:
        unittest.TestSuite(_controls(ControlTests(job["control"]), result, tests, ids)).run(result)
        watch.end()
    measured.report()
    channel.say("done", exit=code)
    sys.stdout.flush()
    sys.exit(code)


def _controls(control: ControlTests, result: Reporter, tests: list[Any], ids: dict[int, str]) -> list[Any]:
    """Stet's own control tests, which are not counted."""
    passed = [
        PassedTest(function, result.passed[id(test)], test)
        for test in tests
        if id(test) in result.passed
        for function in [_function(test)]
        if inspect.isfunction(function)
    ]
    made = [(each.__name__, each) for each in (control.good(), control.bad())]
    for copy in control.copies(passed):
        plain = isinstance(copy.test.item, unittest.FunctionTestCase)
        made.append((copy.name, copy.function if plain else debugged(type(copy.test.item), copy)))
    path = ids[id(tests[-1])].partition("::")[0]
    controls = []
    for name, function in made:
        controls.append(unittest.FunctionTestCase(function))
        ids[id(controls[-1])] = f"{path}::{name}"
    return controls


def _function(test: Any) -> Any:
    """The function that a test runs; a bound method of a plain class cannot be copied."""
    if isinstance(test, unittest.FunctionTestCase):
        return test._testFunc  # type: ignore[attr-defined]
    return vars(type(test)).get(test._testMethodName)


def _discovered() -> list[str]:
    found = []
    for folder, below, names in os.walk("."):
        below[:] = [name for name in below if not name.startswith(".") and name not in ("node_modules", "venv")]
        found += [os.path.relpath(os.path.join(folder, name)) for name in names if name.startswith("test")]
    return sorted(path for path in found if path.endswith(".py"))


def _load(path: str, channel: Channel, ids: dict[int, str]) -> unittest.TestSuite:
    """The tests of one file; a file that cannot be imported is reported, and yields none."""
    name = path[: -len(".py")].replace(os.sep, ".")
    try:
        module = importlib.import_module(name)
        if os.path.abspath(str(module.__file__)) != os.path.abspath(path):
            raise ImportError(f"{name} is {module.__file__}, not {path}", name=name)
        suite = unittest.defaultTestLoader.loadTestsFromModule(module)
        plain = list(_plain(module))
    except BaseException as error:  # noqa: BLE001 - `sys.exit` while a file is imported is an error of the file
        text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        channel.say("uncollected", path=path, failure=described(error), text=text[-2000:])
        return unittest.TestSuite()
    for test in _flat(suite):
        ids[id(test)] = f"{path}::{type(test).__qualname__}::{test.id().rpartition('.')[2]}"
    for bare, test in plain:
        ids[id(test)] = f"{path}::{bare}"
        suite.addTest(test)
    return suite


def _plain(module: ModuleType) -> Iterator[tuple[str, unittest.FunctionTestCase]]:
    """Functions and methods of plain classes that pytest would run without fixtures, with their names."""
    for name, value in list(vars(module).items()):
        if name.startswith("test") and _takes_nothing(value):
            yield name, unittest.FunctionTestCase(value)
        elif name.startswith("Test") and isinstance(value, type) and not issubclass(value, unittest.TestCase):
            if hasattr(value, "setup_method") or hasattr(value, "setup_class") or "__init__" in vars(value):
                continue
            for inner in dir(value):
                method = getattr(value(), inner) if inner.startswith("test") else None
                if method is not None and _takes_nothing(method):
                    yield f"{name}::{inner}", unittest.FunctionTestCase(method)


def _takes_nothing(value: Any) -> bool:
    plain = inspect.isfunction(value) or inspect.ismethod(value)
    return plain and not inspect.iscoroutinefunction(value) and not inspect.signature(value).parameters


def _flat(suite: Any) -> list[Any]:
    if not isinstance(suite, unittest.TestSuite):
        return [suite]
    return [test for each in suite for test in _flat(each)]


class Reporter(unittest.TestResult):
    """The result that unittest fills; each call reports one line."""

    def __init__(self, channel: Channel, measured: Measurement, ids: dict[int, str], watch: TamperWatch) -> None:
        super().__init__()
        self.buffer = True
        self._channel, self._measured, self._ids = channel, measured, ids
        self._started, self._watch = 0.0, watch
        self.passed: dict[int, float] = {}

    def _name(self, test: Any) -> str:
        # A class' or a module's own set-up comes as another object, which describes itself.
        return self._ids.get(id(test)) or str(test)

    def startTest(self, test: Any) -> None:
        """Reports that a test begins."""
        super().startTest(test)
        self._started = time.monotonic()
        self._channel.say("start", id=self._name(test))
        self._measured.during(self._name(test))

    def stopTest(self, test: Any) -> None:
        """Reports that a test is over."""
        self._measured.during("")
        self._watch.look()
        self._channel.say("end", id=self._name(test), seconds=time.monotonic() - self._started)
        super().stopTest(test)

    def _phase(self, test: Any, outcome: str, phase: str = "call", **more: Any) -> None:
        printed = sys.stdout.getvalue()[-2000:] if isinstance(sys.stdout, io.StringIO) else ""
        self._channel.say("phase", id=self._name(test), phase=phase, outcome=outcome, stdout=printed, **more)

    def _raised(self, test: Any, err: Any) -> None:
        failure = described(err[1], err[2])
        phase = _phase_of(err[2])
        compared = _compared(err[2])
        if compared:
            failure["comparison"] = compared
        self._channel.say("raised", id=self._name(test), phase=phase, failure=failure)
        self._phase(test, "failed", phase)
        if id(test) not in self._ids:
            self._channel.say("end", id=self._name(test), seconds=0)

    def addSuccess(self, test: Any) -> None:
        """Reports that a test passed."""
        self.passed[id(test)] = time.monotonic() - self._started
        self._phase(test, "passed")

    def addError(self, test: Any, err: Any) -> None:
        """Reports an exception other than an assertion."""
        self._raised(test, err)
        super().addError(test, err)

    def addFailure(self, test: Any, err: Any) -> None:
        """Reports an assertion that did not hold."""
        self._raised(test, err)
        super().addFailure(test, err)

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:
        """Reports the end of a subtest; its failure is the test's."""
        if err is not None:
            self._raised(test, err)
        super().addSubTest(test, subtest, err)

    def addSkip(self, test: Any, reason: str) -> None:
        """Reports a skipped test."""
        self._phase(test, "skipped", reason=reason)

    def addExpectedFailure(self, test: Any, err: Any) -> None:
        """Reports an expected failure."""
        self._phase(test, "skipped", expected_failure="")

    def addUnexpectedSuccess(self, test: Any) -> None:
        """Reports an unexpected success: unittest counts it as a failure."""
        self._phase(test, "failed", failure={"type": "UnexpectedSuccess", "message": "unexpected success"})
        super().addUnexpectedSuccess(test)


def _phase_of(tb: TracebackType | None) -> str:
    """Whether it was raised in a test's set-up, clean-up or body, by the functions on the stack."""
    while tb is not None:
        name = tb.tb_frame.f_code.co_name
        if name in ("setUp", "asyncSetUp", "setUpClass", "setUpModule"):
            return "setup"
        if name in ("tearDown", "asyncTearDown", "tearDownClass", "tearDownModule", "doCleanups"):
            return "teardown"
        tb = tb.tb_next
    return "call"


_OPERATORS = {
    "assertEqual": "==",
    "assertNotEqual": "!=",
    "assertIs": "is",
    "assertIn": "in",
    "assertAlmostEqual": "==",
}


def _compared(tb: TracebackType | None) -> dict[str, str] | None:
    """The two sides of `assertEqual` and the like, from the frame of unittest that compared them."""
    while tb is not None:
        code, scope = tb.tb_frame.f_code, tb.tb_frame.f_locals
        if code.co_name in _OPERATORS and os.path.basename(code.co_filename) == "case.py":
            names = ("first", "second") if "first" in scope else ("expr1", "expr2")
            names = names if names[0] in scope else ("member", "container")
            left, right = scope.get(names[0]), scope.get(names[1])
            return {"operator": _OPERATORS[code.co_name], "left": safe_repr(left), "right": safe_repr(right)}
        tb = tb.tb_next
    return None

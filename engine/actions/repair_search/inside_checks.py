"""What an edit has to pass, as functions that return whether it does. Runs inside the sandbox, next to `inside.py`."""

from __future__ import annotations

import importlib
import io
import os
import sys
from typing import Any, Callable, Iterator  # noqa: UP035 - as Python 3.8 has them

from box_program import (  # type: ignore[import-not-found]  # next to this file in the sandbox
    InThisProcess,
    load,
    run_pytest,
    succeeds,
)


def with_tests(job: Any, found: Callable[[list[Any]], None]) -> None:
    """Collects the tests and passes them on, under pytest within its session."""
    try:
        import pytest
        from _pytest.reports import TestReport
    except ImportError:
        found([unittest_of(each) for each in job["tests"]])
        return

    class Plugin(InThisProcess):  # type: ignore[misc]
        @pytest.hookimpl(tryfirst=True)
        def pytest_runtestloop(self, session: Any) -> bool:
            def check(item: Any) -> Callable[[], bool]:
                def run() -> bool:
                    self.good = True
                    item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
                    return self.good

                return run

            found([check(item) for item in session.items])
            return True

        @pytest.hookimpl(tryfirst=True)
        def pytest_runtest_makereport(self, item: Any, call: Any) -> Any:
            if call.excinfo is None or isinstance(call.excinfo.value, pytest.skip.Exception):
                return None
            # The text of a failure, which no one reads here, takes longer than the test.
            return TestReport(item.nodeid, item.location, {}, "failed", None, call.when)

    run_pytest(job["tests"], Plugin())


def unittest_of(identifier: str) -> Callable[[], bool]:
    """A test by its id, `file::Class::method`."""
    path, *names = identifier.split("::")
    name = "stet_tests_" + "".join(each if each.isalnum() else "_" for each in path)
    if name not in sys.modules:
        sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
        load(name, path)

    def run() -> bool:
        return bool(succeeds(getattr(sys.modules[name], names[0])(names[-1])))

    return run


def examples(job: Any) -> Iterator[Callable[[], bool]]:
    """The examples as checks: what a line prints, or the error that it raises."""
    if not job["examples"]:
        return
    space = vars(loaded(job))
    checker = None
    if any("..." in want for _, _, wanted, _ in job["examples"] for want in wanted):
        import doctest

        checker = doctest.OutputChecker()

    def check(setup: Any, body: Any, wanted: list[str], error: str) -> Callable[[], bool]:
        def run() -> bool:
            own = dict(space)
            printed, sys.stdout = sys.stdout, io.StringIO()
            try:
                exec(setup, own)
                exec(body, own)
            except Exception as raised:
                return bool(error) and type(raised).__qualname__.rpartition(".")[2] == error
            finally:
                captured_output, sys.stdout = sys.stdout, printed
            got = captured_output.getvalue()
            if checker is not None:
                return not error and any(
                    checker.check_output(want, got, 8 | 4) for want in wanted
                )  # ELLIPSIS, NORMALIZE_WHITESPACE
            return not error and got.split() in [want.split() for want in wanted]

        return run

    for setup, body, wanted, error in job["examples"]:
        yield check(compile(setup, "<setup>", "exec"), compile(body, "<example>", "exec"), wanted, error)


def loaded(job: Any) -> Any:
    """The module; under another name if this program itself needs one of its name."""
    if job["name"] not in sys.modules:
        return importlib.import_module(job["name"])
    known = sys.modules[job["name"]]
    if os.path.realpath(getattr(known, "__file__", None) or "") == job["path"]:
        return known
    return load("stet_target", job["path"])

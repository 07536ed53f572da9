"""Runs Python tests under unittest, for interpreters without pytest."""

from __future__ import annotations

import json
from collections.abc import Sequence

from stet_ls.engine.runners.control_tests import ControlWords, without_control_tests
from stet_ls.engine.runners.plan import TestPlan
from stet_ls.engine.runners.report_channel import FOLDER, Event, placed
from stet_ls.engine.runners.reporter_events import ReporterEvents, case_results
from stet_ls.engine.sandbox.spec import TESTS, RunSpec


class Unittest:
    """unittest of the standard library."""

    name = "unittest"
    install = "python3"

    def fits(self, plan: TestPlan) -> bool:
        """Always true; the expected ids show whether the tests are of its kind."""
        return True

    def prepare(self, plan: TestPlan, nonce: str) -> RunSpec:
        """Runs the interpreter with Stet's own main program."""
        observed = {"coverage": plan.coverage, "traced": plan.traced, "captured": plan.captured}
        options = {"tests": plan.tests, "select": plan.select, "control": ControlWords.of(nonce).to_json()}
        job = json.dumps({**options, **observed})
        return RunSpec(
            (str(plan.python()), FOLDER),
            files={**placed("unittest_main", nonce), f"{FOLDER}/job.json": job.encode()},
            binds=plan.python_binds(),
            env=plan.environment.env if plan.environment else {},
            limits=TESTS,
        )

    def read(self, plan: TestPlan, events: Sequence[Event], nonce: str) -> ReporterEvents:
        """Reads the reporter's events."""
        return without_control_tests(case_results(events, plan), events, nonce)

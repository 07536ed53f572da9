"""Runs Python tests under pytest, with a reporter of Stet's."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from stet_ls.engine.runners import idle_plugins
from stet_ls.engine.runners.control_tests import ControlWords, without_control_tests
from stet_ls.engine.runners.plan import SuiteOwner, TestPlan
from stet_ls.engine.runners.report_channel import FOLDER, Event, placed
from stet_ls.engine.runners.reporter_events import ReporterEvents, case_results
from stet_ls.engine.sandbox.spec import TESTS, RunSpec


class Pytest:
    """pytest, if the plan's interpreter has it."""

    name = "pytest"
    install = "pip install pytest (into the project's environment)"

    def fits(self, plan: TestPlan) -> bool:
        """True if it is installed: pytest is tried first, since it runs unittest's cases too."""
        return plan.environment is None or plan.environment.has("pytest")

    def prepare(self, plan: TestPlan, nonce: str) -> RunSpec:
        """Runs without plugins for generated tests: loading all plugins of a large environment takes seconds."""
        observed = {"coverage": plan.coverage, "traced": plan.traced, "captured": plan.captured}
        control = {"control": ControlWords.of(nonce).to_json(), "tests": list(plan.tests)}
        options = {"arguments": list(_arguments(plan)), "plugins": plan.suite is SuiteOwner.PROJECT}
        job = json.dumps({**options, **observed, **control})
        return RunSpec(
            (str(plan.python()), FOLDER),
            files={**placed("pytest_main", nonce), f"{FOLDER}/job.json": job.encode()},
            binds=plan.python_binds(),
            env={
                **(plan.environment.env if plan.environment else {}),
                **({"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"} if plan.suite is SuiteOwner.GENERATED else {}),
            },
            limits=TESTS,
            # Plugins are found when pytest starts: the imports of a project's own plugins are not known ahead.
            warm=("pytest",) if plan.suite is SuiteOwner.GENERATED and not plan.coverage else (),
        )

    def read(self, plan: TestPlan, events: Sequence[Event], nonce: str) -> ReporterEvents:
        """Reads the reporter's events."""
        found = without_control_tests(case_results(events, plan), events, nonce)
        # 5: no test was collected. The cases show that nothing ran.
        if found.exit == 5 and not found.cases:
            found.exit = 0
        return found


def _arguments(plan: TestPlan) -> Iterator[str]:
    yield from ("-p", "no:cacheprovider", "-q")
    yield from idle_plugins.arguments(plan)
    if plan.suite is SuiteOwner.GENERATED:
        # An empty configuration: a stray one above the working folder, or among the files, has no effect.
        yield from ("-c", "/dev/null", "--rootdir=.", "--confcutdir=.", "-o", "console_output_style=classic")
    yield from plan.select or plan.tests

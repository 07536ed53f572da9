"""Runs a test plan: the entry point of the package."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace

from stet_ls.engine.errors import StetError, UsageError
from stet_ls.engine.runners import report_channel
from stet_ls.engine.runners.plan import SuiteOwner, TestPlan
from stet_ls.engine.runners.report import SuiteOutcome, TestReport
from stet_ls.engine.runners.runner import Runner
from stet_ls.engine.runners.suite_outcome import suite_report
from stet_ls.engine.runners.toolchain import MissingToolError
from stet_ls.engine.sandbox.spec import Box


async def run_tests(box: Box, plan: TestPlan) -> TestReport:
    """Runs a plan once. Raises UsageError for an invalid plan; everything else is an outcome."""
    runner = choose(plan)
    nonce = report_channel.new_nonce()
    try:
        spec = await asyncio.to_thread(runner.prepare, plan, nonce)
    except MissingToolError as missing:
        detail = f"{missing} is not on this machine"
        return TestReport(runner.name, SuiteOutcome.NO_RUNNER, detail=detail, install=missing.install, seed=plan.seed)
    spec = replace(
        spec,
        files={**plan.files, **spec.files},
        overlay=plan.overlay,
        binds=(*spec.binds, *plan.binds),
        env={"PYTHONHASHSEED": str(plan.seed), **spec.env, **plan.env},
        limits=(plan.limits or spec.limits).within(plan.until - time.monotonic()),
        report=True,
    )
    try:
        run = await box.run(spec)
    except StetError as refused:
        return TestReport(runner.name, SuiteOutcome.REFUSED, detail=str(refused), seed=plan.seed)
    events = list(report_channel.events(run.report, nonce))
    root = next((str(event.get("root", "")) for event in events if event["event"] == "hello"), "")
    found = runner.read(replace(plan, reported_root=root), events, nonce)
    return suite_report(plan, runner.name, _expected(plan), found, run, runner.install)


def _expected(plan: TestPlan) -> tuple[str, ...]:
    """The ids that must be reported. A project's configuration may rename tests: its runner lists them."""
    if plan.select:
        return (*plan.expected, *plan.select)
    from stet_ls.engine.runners.language_table import expected

    listed = expected(plan) if plan.suite is SuiteOwner.GENERATED else ()
    return tuple(dict.fromkeys((*plan.expected, *listed)))


def choose(plan: TestPlan) -> Runner:
    """The first runner of the language that fits, or the one that the plan names."""
    from stet_ls.engine.runners.language_table import ROWS, for_language

    known = for_language(plan.language).runners
    if not known:
        raise UsageError(f"no test runner for {plan.language!r}; runners exist for {', '.join(sorted(ROWS))}")
    if plan.framework:
        named = [runner for runner in known if runner.name == plan.framework]
        if not named:
            names = ", ".join(runner.name for runner in known)
            raise UsageError(f"no runner of {plan.language} is called {plan.framework!r}; expected one of {names}")
        return named[0]
    return next((runner for runner in known if runner.fits(plan)), known[0])

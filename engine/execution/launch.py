"""Starts a harness in the sandbox and reads its report."""

from __future__ import annotations

import asyncio

from stet_ls.engine.errors import StetError
from stet_ls.engine.execution.harness_run import HarnessReport, HarnessRun, NotRunnable
from stet_ls.engine.execution.read_report import read_report
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.sandbox.spec import RunSpec, RunStatus

LEAST_SECONDS = 1.5
"""With less time left, no run is started."""


TOO_LATE = NotRunnable("the job is out of time")


_ENDED = {
    RunStatus.MEMORY: "the code used too much memory",
    RunStatus.TIMEOUT: "the code did not finish in time",
    RunStatus.STARVED: "the machine was too busy to finish the run",
    RunStatus.PROCESSES: "the code started too many processes",
    RunStatus.OUTPUT: "the code wrote too much output",
    RunStatus.NO_RUNNER: "the interpreter does not start in the sandbox; run `stet doctor`",
}


async def launch(runtime: Runtime, spec: RunSpec, nonce: str, trial: HarnessRun) -> HarnessReport | NotRunnable:
    """The report of a run, or why there is none."""
    try:
        # Not in the limits: they identify a prepared sandbox.
        async with asyncio.timeout(spec.limits.within(runtime.left()).wall):
            result = await runtime.sandbox.run(spec)
    except TimeoutError:
        return TOO_LATE
    except (StetError, ValueError, OSError) as error:
        return NotRunnable(f"code cannot run here: {error}")
    if result.status is RunStatus.KILLED:  # the code that ended it may have written the report
        return NotRunnable("the code ended its own run, so its report proves nothing")
    report = read_report(result.report, nonce, trial)
    if isinstance(report, NotRunnable) and result.status is not RunStatus.OK:
        last_line = result.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        return NotRunnable(_ENDED.get(result.status, f"the run ended early ({last_line or result.status})"))
    return report

"""The one door through which a judge runs code."""

from __future__ import annotations

import secrets
from dataclasses import replace
from pathlib import Path

from stet_ls.engine.errors import StetError
from stet_ls.engine.judges.harness.trial import Impossible, Report, Trial, read_report
from stet_ls.engine.judges.runtime import Runtime
from stet_ls.engine.sandbox.spec import Limits, Overlay, RunSpec, Status

_INSIDE = Path(__file__).with_name("inside.py")
_START_SECONDS = 4.0
"""What the box and the interpreter take before the harness' own clock runs, on a loaded machine."""
_LEAST_SECONDS = 1.5

_ENDED = {
    Status.MEMORY: "the code took too much memory",
    Status.TIMEOUT: "the code did not end in time",
    Status.PROCESSES: "the code started too many processes",
    Status.OUTPUT: "the code wrote without end",
    Status.NO_RUNNER: "the Python of this workspace does not start in the sandbox",
}


async def run(runtime: Runtime, trial: Trial, overlay: Overlay | None = None) -> Report | Impossible:
    """Runs a trial in the box. Cancelling ends all of its processes. Impossible, with the reason, where none can."""
    left = runtime.left()
    if left < _LEAST_SECONDS:
        return Impossible("the job's time was used up")
    trial = replace(trial, seconds=min(trial.seconds, left))
    nonce = secrets.token_hex(8)
    script, job = f".stet-{nonce}/run.py", f".stet-{nonce}/job.json"
    spec = RunSpec(
        (str(runtime.python.path), "-s", "-B", script, job),
        files={script: _INSIDE.read_bytes(), job: trial.to_json(nonce)},
        binds=runtime.python.binds,
        overlay=overlay,
        env={**runtime.python.env, "PYTHONHASHSEED": "0"},
        limits=Limits(wall=trial.seconds + _START_SECONDS),
        report=True,
    )
    try:
        result = await runtime.sandbox.run(spec)
    except (StetError, ValueError, OSError) as error:
        return Impossible(f"no code may run here: {error}")
    report = read_report(result.report, nonce, trial)
    if isinstance(report, Impossible) and result.status is not Status.OK:
        said = result.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        return Impossible(_ENDED.get(result.status, f"the run ended early ({said or result.status})"))
    return report

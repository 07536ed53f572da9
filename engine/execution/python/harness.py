"""Runs Python code for judges: the only entry point."""

from __future__ import annotations

import secrets
from dataclasses import replace
from pathlib import Path

from stet_ls.engine.execution.harness_run import HarnessReport, HarnessRun, NotRunnable, VersionOutcomes
from stet_ls.engine.execution.launch import LEAST_SECONDS, TOO_LATE, launch
from stet_ls.engine.execution.python.inside import PROGRAM
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.sandbox.environments.interpreter import Environment
from stet_ls.engine.sandbox.files import mounts
from stet_ls.engine.sandbox.spec import Limits, Overlay, RunSpec

_LIMITS = Limits(seconds=15.0)
"""The same for all runs, so that a sandbox built ahead fits each; the harness' own limits are much tighter."""
_WARM = (
    "ctypes",
    "enum",
    "json",
    "hashlib",
    "importlib.util",
    "io",
    "mmap",
    "random",
    "re",
    "select",
    "signal",
    "threading",
    "itertools",
    "types",
    "typing",
)


async def run(runtime: Runtime, trial: HarnessRun, overlay: Overlay | None = None) -> HarnessReport | NotRunnable:
    """Runs calls in the sandbox. Cancelling ends all of its processes. NotRunnable, with the reason, if impossible."""
    left = runtime.left()
    if left < LEAST_SECONDS:
        return TOO_LATE
    if runtime.python is None:
        return NotRunnable(runtime.why_no_python or "no Python to run it with; set `sandbox.python`")
    trial = replace(trial, seconds=min(trial.seconds, left))
    nonce = secrets.token_hex(8)
    script, job = f".stet-{nonce}/run.py", f".stet-{nonce}/job.json"
    folder = overlay.root if overlay else Path(mounts.BOX)
    files = {script: PROGRAM.encode(), job: _in(folder, trial).to_json(nonce)}
    spec = replace(_spec(runtime.python, script, job), files=files, overlay=overlay)
    return await launch(runtime, spec, nonce, trial)


def _in(folder: Path, trial: HarnessRun) -> HarnessRun:
    """The run with paths relative to its working folder: some sandboxes show the folder at another path."""
    roots = tuple(root.relative_to(folder) for root in trial.roots)
    return replace(trial, path=trial.path.relative_to(folder), roots=roots)


def not_loaded(runtime: Runtime, version: VersionOutcomes) -> NotRunnable:
    """Why a text could not be imported: a package that could not be installed, or its own error."""
    return NotRunnable(runtime.excuse(version.lacks) or f"the file cannot be imported ({version.problem})")


def warm_spec(python: Environment) -> RunSpec:
    """A typical run with this Python, for a sandbox that is built ahead."""
    return _spec(python, "run.py")


def _spec(python: Environment, *arguments: str) -> RunSpec:
    return RunSpec(
        (str(python.path), "-s", "-B", *arguments),
        binds=python.binds,
        env={**python.env, "PYTHONHASHSEED": "0"},
        limits=_LIMITS,
        report=True,
        warm=_WARM,
        program=PROGRAM,
    )

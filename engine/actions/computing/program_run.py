"""One program in the sandbox: in an overlay of the workspace, with the files of earlier programs, inputs read-only."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.sandbox.spec import Limits, Overlay, RunResult, RunSpec, RunStatus, why_stopped
from stet_ls.validators.project_files import BUILD_FOLDERS

_MIB = 1024 * 1024
MOST_BYTES, MOST_FILES = 32 * _MIB, 200
"""What the programs of a task may keep in all."""
LIMITS = Limits(
    seconds=60.0,
    wall_factor=3.0,
    data=2048 * _MIB,
    memory=2048 * _MIB,
    processes=128,
    file=2 * MOST_BYTES,
    scratch=4 * MOST_BYTES,
    output=256 * 1024,
    report=8 * MOST_BYTES,
)
"""Limits of one program. A report keeps its first quarter whole: that is more than all files and their names."""
_MOST_ENTRIES = 200_000
_INSIDE = (Path(__file__).parent / "inside" / "run_program.py").read_bytes()
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_MAX_THREADS")
_ENV = {
    "MPLBACKEND": "Agg",
    "MPLCONFIGDIR": "/tmp/matplotlib",  # noqa: S108 - the sandbox's own
    "PYTHONHASHSEED": "0",
    "PYTHONIOENCODING": "utf-8",
    **dict.fromkeys(_THREADS, "4"),
}
"""Pictures go to files; results are the same in each run; as many threads as `LIMITS.processes` allows."""

_HINTS: Mapping[RunStatus, str] = {
    RunStatus.MEMORY: ": read large files in parts",
    RunStatus.OUTPUT: ": print results only",
}


@dataclass(frozen=True, slots=True)
class TaskProgram:
    """A program by its path below the working folder."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class ProgramFiles:
    """The workspace as programs see it: unsaved buffers, read-only inputs, and the files of earlier programs."""

    root: Path
    buffers: Mapping[str, bytes] = field(default_factory=dict)
    inputs: tuple[str, ...] = ()
    made: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ProgramRun:
    """How a program ended. `problem` says why it failed, "" if it succeeded; only then there are `files`.

    `files` holds those that it made or wrote again. `left_alone` are workspace files that it changed in its overlay.
    """

    status: str
    stdout: str
    stderr: str
    seconds: float
    files: Mapping[str, bytes] = field(default_factory=dict)
    left_alone: tuple[str, ...] = ()
    problem: str = ""


async def run_program(runtime: Runtime, place: ProgramFiles, program: TaskProgram) -> ProgramRun:
    """Runs a program once. Raises PolicyError if the sandbox is too weak for the user's settings."""
    assert runtime.python is not None, "the caller asks for a Python first"
    folder = f".stet-{secrets.token_hex(4)}"
    job = {
        "program": program.name,
        "inputs": place.inputs,
        "own": [*place.made, program.name],
        "skip": sorted(BUILD_FOLDERS),
        "most_entries": _MOST_ENTRIES,
        "most_bytes": MOST_BYTES,
        "most_files": MOST_FILES,
    }
    spec = RunSpec(
        (str(runtime.python.path), "-s", "-B", f"{folder}/run.py", f"{folder}/job.json"),
        files={
            **place.made,
            program.name: program.text.encode("utf-8", "surrogatepass"),
            f"{folder}/run.py": _INSIDE,
            f"{folder}/job.json": json.dumps(job).encode(),
        },
        binds=runtime.python.binds,
        overlay=Overlay(place.root, place.buffers),
        env={**runtime.python.env, **_ENV},
        limits=LIMITS.within(runtime.left()),
        report=True,
        read_only=tuple(name for name in place.inputs if name not in place.buffers),
    )
    return _read(await runtime.sandbox.run(spec))


def _read(run: RunResult) -> ProgramRun:
    stdout, stderr = (stream.decode("utf-8", "replace") for stream in (run.stdout, run.stderr))
    ended = ProgramRun(run.status.value, stdout, stderr, run.seconds)

    def failed(problem: str) -> ProgramRun:
        status = ended.status if run.status is not RunStatus.OK else RunStatus.FAILED.value
        return ProgramRun(status, stdout, stderr, run.seconds, problem=problem)

    if run.status is RunStatus.FAILED:
        return failed(_last_line(stderr) or f"it ended with status {run.exit}")
    if run.status is not RunStatus.OK:
        return failed(
            f"{why}{_HINTS.get(run.status, '')}"
            if (why := why_stopped(run.status, LIMITS))
            else run.detail or f"it was ended by signal {run.signal}"
        )
    outcome = _report(run.report)
    if outcome is None:
        return failed("its files could not be read")
    if outcome["inputs"]:
        return failed(f"it changed `{outcome['inputs'][0]}`, an input file: write results to new files")
    if outcome["problem"]:
        return failed(str(outcome["problem"]))
    return ProgramRun(ended.status, stdout, stderr, run.seconds, outcome["contents"], tuple(outcome["changed"]))


def _report(report: bytes) -> dict[str, Any] | None:
    """The report with its contents; None if it is not whole."""
    line, _, rest = report.partition(b"\n")
    try:
        outcome: dict[str, Any] = json.loads(line)
        files: dict[str, bytes] = {}
        for name, size in outcome["files"]:
            if len(rest) < size:
                return None
            files[name], rest = rest[:size], rest[size:]
        outcome["contents"] = files
    except (ValueError, KeyError, TypeError):
        return None
    return outcome if not rest else None


def _last_line(stderr: str) -> str:
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    return lines[-1][:300] if lines else ""

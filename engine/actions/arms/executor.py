"""The executor: runs a command in the sandbox, on the project as the steps so far left it."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from pathlib import Path

from stet_ls.engine.actions.action import finish_answer, refusal
from stet_ls.engine.actions.arms.arm import ArmNeeds, StepRun
from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.arms import ArmHealth, ArmState
from stet_ls.engine.api.summary import Summary
from stet_ls.engine.errors import StetError
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.markdown import fenced
from stet_ls.engine.sandbox.files import mounts
from stet_ls.engine.sandbox.spec import TESTS, Overlay, RunResult, RunSpec, RunStatus, why_stopped

_PYTHON = re.compile(r"python3?")
_SHOWN = 4_000
"""Characters of the output that later steps are shown."""


async def run_command(run: StepRun) -> Answer:
    """Runs the step's instruction as a command; its output is the report."""
    words = run.step.instruction.strip().strip("`")
    runtime = await run.job.runtime(*run.overlay.texts.values())
    if runtime is None:
        return refusal(run.job, "Task: the command was not run: code may not run here.")
    result = await in_overlay(runtime, words, run)
    if isinstance(result, str):
        return refusal(run.job, f"Task: `{words}` was not run: {result}")
    output = (result.stdout + result.stderr).decode("utf-8", "replace")[-_SHOWN:]
    report = f"`{words}`: {ending_text(result)}\n\n{fenced(output, 'text')}"
    if result.status is not RunStatus.OK:
        return refusal(run.job, f"Task: `{words}` failed: {ending_text(result)}. {_last_line(output)}".strip())
    request = run.job.request
    summary = Summary("Ran", f"`{words}`", notes=(ending_text(result),))
    return finish_answer(run.job, Answer(True, request.action, request.language, summary, markdown=report))


async def in_overlay(runtime: Runtime, words: str, run: StepRun) -> RunResult | str:
    """The result of a command in the sandbox, in the folder of the project; or why it was not run."""
    try:
        argv = shlex.split(words)
    except ValueError as error:
        return f"{error}"
    if not argv:
        return "the command is empty"
    environment, binds = runtime.python, tuple[Path, ...]()
    if _PYTHON.fullmatch(argv[0]):
        argv[0] = str(environment.path if environment else sys.executable)
        binds = environment.binds if environment else mounts.interpreter()
    elif (found := shutil.which(argv[0])) is not None:
        binds = mounts.interpreter(Path(found))
    root = run.plan.root
    spec = RunSpec(tuple(argv), overlay=Overlay(root, run.overlay.bytes_below(root)), binds=binds, limits=TESTS)
    try:
        return await runtime.sandbox.run(spec)
    except (StetError, ValueError) as error:
        return str(error)


async def sandbox_health(needs: ArmNeeds) -> ArmHealth:
    """Whether there is a sandbox of the required level."""
    if needs.runtimes is None:
        return ArmHealth(ArmState.DOWN, "code may not run")
    if needs.runtimes.sandbox.obstacle is not None:
        return ArmHealth(ArmState.DEGRADED, "the sandbox uses a temporary folder")
    return ArmHealth()


def ending_text(result: RunResult) -> str:
    """How a command ended, in a few words."""
    if result.status is RunStatus.FAILED:
        return f"exit {result.exit}" if result.exit is not None else f"signal {result.signal}"
    if result.status is RunStatus.OK:
        return f"done in {result.seconds:.1f} s"
    return why_stopped(result.status, TESTS) or f"stopped: {result.status}"


def _last_line(output: str) -> str:
    return next((line.strip() for line in reversed(output.splitlines()) if line.strip()), "")

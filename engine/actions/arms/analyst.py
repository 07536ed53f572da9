"""The analyst: work that computes, as a step among others. Its programs see the project as the steps so far left it."""

from __future__ import annotations

import asyncio
from pathlib import Path

from stet_ls.engine.actions.arms.arm import StepRun
from stet_ls.engine.actions.computing.computing_task import run_computing_task
from stet_ls.engine.actions.computing.criteria import Criteria, asks_for_picture
from stet_ls.engine.actions.computing.inputs import data_names, existing_file, root_of
from stet_ls.engine.actions.computing.turns import ComputingTask
from stet_ls.engine.api.answer import Answer


async def compute(run: StepRun) -> Answer:
    """The files that the step's programs made, and what they found out as the report for later steps."""
    return await run_computing_task(run.job, await asyncio.to_thread(_computing_task, run))


def _computing_task(run: StepRun) -> ComputingTask:
    """The step as a task that computes. Looks at the disk."""
    step, request = run.step, run.job.request
    root = root_of(request)
    inputs = [path.relative_to(root).as_posix() for path in (step.path, *step.files) if _is_file(run, path)]
    outputs: list[str] = []
    for name in data_names(step.instruction):
        found = existing_file(root, step.path.parent, name)
        known = found or (name if run.overlay.has(root / name) else "")
        (inputs if known else outputs).append(known or name)
    return ComputingTask(
        step.instruction,
        tuple(dict.fromkeys(inputs)),
        run.plan.intent.libraries,
        request.constraints,
        Criteria(tuple(outputs), asks_for_picture(step.instruction)),
        request.context,
    )


def _is_file(run: StepRun, path: Path) -> bool:
    return path.is_file() or run.overlay.has(path)

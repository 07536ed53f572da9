"""Tasks that are no change in steps: a rename through the project, a port of a module, and work that computes."""

from __future__ import annotations

import asyncio

from stet_ls.engine.actions.computing.computing_task import run_computing_task
from stet_ls.engine.actions.computing.requested import requested_task
from stet_ls.engine.actions.porting.port_task import port_module
from stet_ls.engine.actions.porting.requested import port_request
from stet_ls.engine.actions.renaming.rename_task import rename_task
from stet_ls.engine.actions.renaming.requested import rename_request
from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.request import Request
from stet_ls.engine.job.job import Job
from stet_ls.engine.prompt.instruction import find_instruction
from stet_ls.engine.prompt.target import resolve_target


async def done_without_plan(job: Job) -> Answer | None:
    """The answer to such a task; None for all others, which need a plan. Raises what the work itself raises."""
    with job.stage("context"):
        goal = await asyncio.to_thread(_goal, job.request)
        computing = await asyncio.to_thread(requested_task, job.request)
        porting = await asyncio.to_thread(port_request, job.request, goal)
    if (renaming := rename_request(goal)) is not None and (answer := await rename_task(job, renaming)) is not None:
        return answer
    if porting is not None:
        return await port_module(job, porting)
    return None if computing is None else await run_computing_task(job, computing)


def _goal(request: Request) -> str:
    found = find_instruction(request, resolve_target(request))
    return found.text if found is not None else ""

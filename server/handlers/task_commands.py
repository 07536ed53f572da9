"""The commands of tasks: a plan to edit, and the history."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from pathlib import Path
from typing import Any

from stet_ls.engine.api.actions import PROJECT_ACTION
from stet_ls.server.session import StetServer

Json = dict[str, Any]


def plan(ls: StetServer, params: Any) -> Json:
    """Starts a job whose report is the plan of a task, to be edited and passed on to `stet.tasks.resume`."""
    from stet_ls.server.job_flow.run_job import start_job

    return {"job": start_job(ls, PROJECT_ACTION, params.model_copy(update={"plan_only": True})).id}


async def listed(ls: StetServer, params: Any) -> Json:
    """The tasks, the newest first."""
    records = await asyncio.to_thread((await ls.engine.get()).engine.tasks.list)
    rows = [
        {
            "id": each.id,
            "at": each.at,
            "state": each.state,
            "instruction": each.instruction,
            "path": each.request.get("path", ""),
            "steps": len(each.plan.get("steps", ())),
            "unfinished": list(each.unfinished),
            "running": None if (progress := each.progress()) is None else asdict(progress),
        }
        for each in records
    ]
    return {"tasks": rows}


async def show(ls: StetServer, params: Any) -> Json:
    """One task with its plan, its steps and their evidence."""
    record = await asyncio.to_thread((await ls.engine.get()).engine.tasks.get, params.id)
    return {**record.to_json(), "markdown": record.as_markdown()}


async def resume(ls: StetServer, params: Any) -> Json:
    """Starts a job that does what is not finished of a task; with `plan`, as the user edited it."""
    from stet_ls.server.job_flow.run_job import start_job
    from stet_ls.server.lsp.command_params import TaskParams

    record = await asyncio.to_thread((await ls.engine.get()).engine.tasks.get, params.id)
    row = record.request
    again = TaskParams(
        uri=Path(row["path"]).as_uri(),
        instruction=row["instruction"],
        constraints=tuple(row["constraints"]),
        context=dict(row["context"]),
        budget=row["budget"],
        files=tuple(row["files"]),
        libraries=tuple(row["libraries"]),
        after=tuple(row["after"]),
        priority=row.get("priority"),
        deadline=row.get("deadline"),
        plan=params.plan,
        task=record.id,
    )
    return {"job": start_job(ls, PROJECT_ACTION, again).id}

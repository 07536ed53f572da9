"""A plan before the code: its libraries, approach and edge cases. The code and the tests are each written from it."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace

from stet_ls.engine.actions.action import Action, build_job_prompt
from stet_ls.engine.actions.planning.libraries import library_problem
from stet_ls.engine.api.budget import Budget
from stet_ls.engine.api.events import Stage
from stet_ls.engine.errors import LimitError, ModelError, PolicyError
from stet_ls.engine.job.job import Job
from stet_ls.engine.privacy.placeholders import for_reader
from stet_ls.engine.prompt.build import TaskSpec
from stet_ls.engine.reply.parsing.repetition import loop_start

TITLE = "The plan of the code"
_TASK = TaskSpec(
    goal="Plan the code before it is written. Write no code.",
    reply_kind="prose",
    rules=(
        "First line: `Libraries:` and the packages it needs beside the standard library, or none.",
        "Then the approach in one or two sentences.",
        "Then the edge cases, one a line, each with the expected result.",
    ),
)
_TOKENS = 300
_LIBRARIES = re.compile(r"^\W*Libraries\W*:\W*(?P<names>.+)$", re.IGNORECASE | re.MULTILINE)
_NONE = re.compile(r"(?:none|no|nothing|standard|built-?in|stdlib)\b", re.IGNORECASE)


async def plan_code(job: Job, action: Action) -> None:
    """Adds a plan to the context of a thorough job; what prevents it becomes a warning, and no error."""
    if job.request.budget is not Budget.THOROUGH or job.canned_reply is not None:
        return
    try:
        asking = Action(action.spec, _TASK, action.run)
        prompt = (await asyncio.to_thread(build_job_prompt, job, asking)).prompt
        stage = Stage("code plan")
        reply = await job.ask(prompt, temperature=0.2, max_tokens=_TOKENS, stage=stage)
    except (LimitError, ModelError, PolicyError) as error:
        job.usage.warnings.append(f"No plan before the code: {error}")
        return
    text = for_reader(reply.text, prompt.secrets).strip()
    why = await asyncio.to_thread(_unusable, text, job)
    if why:
        job.usage.warnings.append(f"The plan before the code was left out: {why}")
        return
    job.request = replace(job.request, context={**job.request.context, TITLE: text})


def _unusable(text: str, job: Job) -> str:
    """Why a plan is no help; "" if it is one."""
    if not text or loop_start(text) is not None:
        return "it is empty or repeats itself."
    root = next(iter(job.request.workspace.roots), None)
    match = _LIBRARIES.search(text)
    if match is None or root is None or _NONE.match(match["names"]):
        return ""
    names = [name for each in match["names"].split(",") if (name := each.strip().strip("`*."))]
    packages = [name for name in names if re.fullmatch(r"[A-Za-z][\w.-]*", name)]
    return library_problem(packages, root, job.settings.sandbox.packages)

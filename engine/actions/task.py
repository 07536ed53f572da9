"""Task: several steps over several files. Not built yet; it says so instead of doing half of it."""

from __future__ import annotations

from stet_ls.engine.actions.answers import refusal
from stet_ls.engine.actions.recipe import Recipe
from stet_ls.engine.job import Job
from stet_ls.engine.models import Answer


async def run(job: Job) -> Answer:
    """Refuses, naming the actions that do parts of it today."""
    return refusal(
        job, "Task: not yet in this version. Use generate, debug, refactor or test on one function or class at a time."
    )


RECIPE = Recipe("task", "Do a task", "Work through a task in several steps (not yet in this version).", None, run)

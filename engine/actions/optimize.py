"""Optimize: the same behaviour, faster.

def common(a, b):                        def common(a, b):
    return [x for x in a                     known = set(b)
            if x in b]           =>          return [x for x in a if x in known]
"""

from __future__ import annotations

from stet_ls.engine.actions import rewrite
from stet_ls.engine.actions.recipe import Recipe
from stet_ls.engine.job import Job
from stet_ls.engine.judges import timing
from stet_ls.engine.models import Answer
from stet_ls.engine.prompt.build import Task

TASK = Task(
    action="optimize",
    goal="Make the code faster without changing what it does.",
    wants="unit",
    rules=(
        "The results stay exactly the same, errors and edge cases included.",
        "Keep the name, the parameters and the docstring.",
        "Prefer a better algorithm or data structure.",
    ),
)

REWRITE = rewrite.Rewrite(
    done="Optimized",
    judges=(*rewrite.EQUAL, timing.judge),
)


async def run(job: Job) -> Answer:
    """Offers a faster text of the target, with how much faster it was measured to be."""
    return await rewrite.run(job, RECIPE, REWRITE)


RECIPE = Recipe("optimize", "Optimize", "Make the code faster without changing what it does.", TASK, run)

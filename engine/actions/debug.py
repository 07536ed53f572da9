"""Debug: the smallest change that mends what a diagnostic, an instruction or the code itself shows to be wrong.

def total(prices):                       def total(prices):
    sum = 0                                  sum = 0
    for price in price:          =>          for price in prices:
        sum += price                             sum += price
    return sum                               return sum
"""

from __future__ import annotations

from stet_ls.engine.actions import rewrite
from stet_ls.engine.actions.recipe import Recipe
from stet_ls.engine.job import Job
from stet_ls.engine.models import Answer
from stet_ls.engine.prompt.build import Task

TASK = Task(
    action="debug",
    goal="Find the bug in the code and fix it.",
    wants="unit",
    rules=(
        "Change only what is needed to fix the bug; leave everything else as it is.",
        "Keep the name, the parameters and the docstring.",
    ),
)

REWRITE = rewrite.Rewrite(
    done="Fixed",
    judges=rewrite.KEEPING,
    samples=True,
)


async def run(job: Job) -> Answer:
    """Offers a fix of the target."""
    return await rewrite.run(job, RECIPE, REWRITE)


RECIPE = Recipe("debug", "Fix", "Fix what a diagnostic or an instruction points at.", TASK, run)

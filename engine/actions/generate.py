"""Generate: new code from an instruction, in the place of a comment, a stub or the selection.

def median(values):                      def median(values):
    # stet: the middle value     =>           ordered = sorted(values)
    ...                                      ...
"""

from __future__ import annotations

from stet_ls.engine.actions import rewrite
from stet_ls.engine.actions.recipe import Recipe
from stet_ls.engine.actions.thorough import loop as thorough
from stet_ls.engine.job import Job
from stet_ls.engine.judges import lint
from stet_ls.engine.models import Answer
from stet_ls.engine.prompt.build import Task

TASK = Task(
    action="generate",
    goal="Write the code that the instruction asks for.",
    wants="unit",
    rules=(
        "Write complete, working code: no placeholder, no stub, no TODO.",
        "Follow the style of the code around it and use what is already imported where it serves.",
        "Handle the edge cases that the instruction implies; comment only what is not obvious.",
    ),
)

REWRITE = rewrite.Rewrite(
    done="Generated",
    judges=(*rewrite.PARSING, lint.judge, *rewrite.RUNNING),
    temperature=0.2,
    samples=True,
    further=thorough.prove,
)


async def run(job: Job) -> Answer:
    """Offers new code for the target."""
    return await rewrite.run(job, RECIPE, REWRITE)


RECIPE = Recipe(
    "generate",
    "Generate",
    "Write code from a comment, a docstring or an instruction.",
    TASK,
    run,
    needs_instruction=True,
)

"""Refactor: the same behavior, clearer code.

def sign(x):                             def sign(x):
    if x > 0:                                return (x > 0) - (x < 0)
        return 1                 =>
    ...

The message lists the metrics that improved ("complexity 9 → 4, 20 → 12 lines"), or says that none did.
"""

from __future__ import annotations

from stet_ls.engine.actions.action import Action
from stet_ls.engine.actions.reviewing.refine import review_and_refine
from stet_ls.engine.actions.rewriting import change_kind, refactor_metrics, rewrite
from stet_ls.engine.api.actions import ACTIONS
from stet_ls.engine.api.answer import Answer
from stet_ls.engine.job.job import Job
from stet_ls.engine.prompt.build import TaskSpec

TASK = TaskSpec(
    goal="Refactor the code: shorter and clearer, without repetition and needless nesting.",
    reply_kind="unit",
    keeps_header=True,
    rules=("Keep its behaviour, errors and edge cases included, its name, parameters and docstring.",),
)

REWRITE = rewrite.Rewrite(
    done="Refactored",
    attempted="Tried to refactor",
    measure_gain=lambda case, asked: refactor_metrics.describe_gain(case, asked=asked),
    after_choice=(review_and_refine,),
    kind_of=change_kind.refactoring_kind,
)


async def run(job: Job) -> Answer:
    """Offers a clearer text of the target."""
    return await rewrite.run(job, ACTION, REWRITE)


ACTION = Action(ACTIONS["refactor"], TASK, run)

"""Debug: the smallest change that fixes what a diagnostic, an instruction or the code itself shows to be wrong.

def total(prices):                       def total(prices):
    sum = 0                                  sum = 0
    for price in price:          =>          for price in prices:
        sum += price                             sum += price
    return sum                               return sum
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

from stet_ls.engine.actions.action import Action
from stet_ls.engine.actions.generate_test_fix import fix_loop as thorough
from stet_ls.engine.actions.rewriting import rewrite
from stet_ls.engine.actions.rewriting.reproduce import reproduce
from stet_ls.engine.actions.rewriting.stated_examples import stated_examples
from stet_ls.engine.api.actions import ACTIONS
from stet_ls.engine.api.answer import Answer
from stet_ls.engine.execution.languages import for_language
from stet_ls.engine.job.job import Job
from stet_ls.engine.prompt.build import TaskSpec
from stet_ls.engine.prompt.instruction import find_instruction
from stet_ls.engine.prompt.target import resolve_target

TASK = TaskSpec(
    goal="Find the bug in the code and fix it.",
    wants="unit",
    rules=(
        "Change only what is needed to fix the bug; leave everything else as it is.",
        "Keep the name, the parameters and the docstring.",
    ),
)

NOT_REPRODUCED = "Bug not reproduced: no test, example, diagnostic or instruction shows it."
"""Message: a fix of a bug that was not reproduced is a guess."""

REWRITE = rewrite.Rewrite(done="Fixed", attempted="Tried to fix", samples=True, after_choice=thorough.generate_test_fix)


async def run(job: Job) -> Answer:
    """Offers a fix of the target, with the tests and examples that failed before it and pass after it."""
    with job.stage("reproduce"):
        target = await asyncio.to_thread(resolve_target, job.request)
        instruction = await asyncio.to_thread(find_instruction, job.request, target)
        words = instruction.text if instruction is not None else ""
        examples = stated_examples(words, target.name) if for_language(job.request.language).runs_examples else ""
        seen = await reproduce(job, target, examples)
    if not seen.found and not words:
        job.usage.warnings.append(NOT_REPRODUCED)
    if examples and seen.holds:
        job.usage.warnings.append("The code already behaves as the instruction says.")
    return await rewrite.run(replace(job, request=seen.request), ACTION, REWRITE, stated=examples, seen=seen.evidence)


ACTION = Action(ACTIONS["debug"], TASK, run)

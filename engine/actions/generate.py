"""Generate: new code from an instruction, replacing a comment or a stub, or else added to the existing code.

def median(values):                      def median(values):
    # stet: the middle value     =>           ordered = sorted(values)
    ...                                      ...
"""

from __future__ import annotations

import asyncio

from stet_ls.engine.actions.action import Action
from stet_ls.engine.actions.generate_test_fix import fix_loop as thorough
from stet_ls.engine.actions.generate_test_fix.code_plan import plan_code
from stet_ls.engine.actions.reviewing.refine import review_and_refine
from stet_ls.engine.actions.rewriting import rewrite
from stet_ls.engine.actions.rewriting.stated_examples import examples_of_new_code, stated_examples
from stet_ls.engine.api.actions import ACTIONS
from stet_ls.engine.api.answer import Answer
from stet_ls.engine.execution.language_table import for_language
from stet_ls.engine.job.job import Job
from stet_ls.engine.prompt.build import TaskSpec
from stet_ls.engine.prompt.instruction import find_instruction
from stet_ls.engine.prompt.target import resolve_target

TASK = TaskSpec(
    goal="Write the code that the instruction asks for.",
    reply_kind="unit",
    rules=("Write complete code in the style around it, edge cases included: no placeholder, no TODO.",),
)

REWRITE = rewrite.Rewrite(
    done="Generated",
    attempted="Tried to generate",
    temperature=0.2,
    samples=True,
    after_choice=(review_and_refine, thorough.generate_test_fix),
)


async def run(job: Job) -> Answer:
    """Offers new code for the target; the budget thorough plans it first. Calls with stated results are tried."""
    await plan_code(job, ACTION)
    return await rewrite.run(job, ACTION, REWRITE, user_examples=await asyncio.to_thread(_requested_examples, job))


def _requested_examples(job: Job) -> str:
    """The examples of the instruction."""
    target = resolve_target(job.request)
    instruction = find_instruction(job.request, target)
    if instruction is None or not for_language(job.request.language).runs_examples:
        return ""
    if not target.name:
        document = job.request.source.text
        return examples_of_new_code(instruction.text, document.replace(instruction.text, ""))
    return stated_examples(instruction.text, target.name, requested=True)


ACTION = Action(ACTIONS["generate"], TASK, run)

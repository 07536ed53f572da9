"""How one of several samples of the model alone is chosen, with what a user without Stet could run."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from bench.eval.arms import Choice
from bench.eval.cases import Case as Task
from bench.eval.hidden import passes

from stet_ls.engine.actions.rewriting.prose_examples import documented_examples
from stet_ls.engine.actions.rewriting.stated_examples import stated_examples
from stet_ls.engine.execution.harness_run import NotRunnable
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.judges.agreement import group_by_behavior
from stet_ls.engine.judges.case import Case
from stet_ls.engine.sandbox.environments.interpreter import Interpreter, bare_environment
from stet_ls.engine.sandbox.files import mounts
from stet_ls.engine.sandbox.sandbox import Sandbox
from stet_ls.validators.source import Source

_EXAMPLES = """
import doctest
_case = doctest.DocTestParser().get_doctest({!r}, dict(globals()), "shown", None, 0)
assert _case.examples and not doctest.DocTestRunner(verbose=False).run(_case, out=lambda text: None).failed
"""


async def chosen(how: Choice, task: Task, texts: Sequence[str | None], sandbox: Sandbox) -> int:
    """The number of the chosen sample; `texts` are the documents with it, None where it gave no code."""
    known = [number for number, text in enumerate(texts) if text is not None]
    if how is Choice.PASSES:
        examples = _EXAMPLES.format(shown_examples(task))
        for number in known:
            if await passes(sandbox, str(texts[number]), examples):
                return number
        return known[0] if known else 0
    if len(known) < 2:
        return known[0] if known else 0
    interpreter = Interpreter(Path(sys.executable), sys.version_info[:3], mounts.interpreter(), {}, modules=frozenset())
    runtime = Runtime(sandbox, bare_environment(interpreter))
    before = Source(task.text)
    found = await group_by_behavior(
        [
            Case(task.asks, "python", None, before, Source(str(texts[number])), task.unit, runtime=runtime)
            for number in known
        ]
    )
    return known[0] if isinstance(found, NotRunnable) else known[found.groups[0][0]]


def shown_examples(task: Task) -> str:
    """The examples that the model was shown: those of the docstring, in prose too, and of the instruction."""
    written = [each[each.index(">>>") :] for each in task.text.split("\n\n") if ">>>" in each]
    prose = "".join(each.text for each in documented_examples(task.text, task.unit, task.instruction) if each.certain)
    own = stated_examples(task.instruction, task.unit, requested=True)
    lines = [line.strip() for part in written for line in part.split("\n") if '"""' not in line]
    return "\n".join(["\n".join(lines), prose, own])

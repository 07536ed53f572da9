"""Optimize: the same behavior, faster.

def common(a, b):                        def common(a, b):
    return [x for x in a                     known = set(b)
            if x in b]           =>          return [x for x in a if x in known]

Offered with a measured gain: its ratio and interval are part of the message. A candidate with a smaller gain, or one
that could not be measured because of the code itself (no inputs, it cannot be run alone, it takes too long), is
rejected with that reason; the answer's `code` still holds the candidate. If measuring is impossible (a language
other than Python, no Python in the sandbox, the quick budget), a rejection would be no verdict on the candidate: it
is offered with the words "not measured: ...", and no editor applies it without asking.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

from stet_ls.engine.actions.action import Action
from stet_ls.engine.actions.reviewing.refine import review_and_refine
from stet_ls.engine.actions.rewriting import rewrite
from stet_ls.engine.actions.rewriting.hot_lines import hot_line
from stet_ls.engine.api.actions import ACTIONS
from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.evidence import Check
from stet_ls.engine.api.request import Diagnostic
from stet_ls.engine.job.job import Job
from stet_ls.engine.judges.case import Case
from stet_ls.engine.prompt.build import TaskSpec
from stet_ls.engine.prompt.target import resolve_target
from stet_ls.validators.findings import Severity

TASK = TaskSpec(
    goal="Make the code faster, with a better algorithm or data structure.",
    reply_kind="unit",
    rules=("Keep its results, errors and edge cases included, its name, parameters and docstring.",),
)

REWRITE = rewrite.Rewrite(
    done="Optimized",
    attempted="Tried to optimize",
    required=frozenset({Check.TIMING}),
    after_choice=(review_and_refine,),
)


async def run(job: Job) -> Answer:
    """Offers a faster text of the target, with the measured gain. The prompt names the slowest line."""
    with job.stage("profile"):
        hot = await _hot(job)
    request = replace(job.request, diagnostics=(*job.request.diagnostics, *hot))
    return await rewrite.run(replace(job, request=request), ACTION, REWRITE)


async def _hot(job: Job) -> tuple[Diagnostic, ...]:
    """The line that takes the most time, as a finding at its place."""
    request = job.request
    target = await asyncio.to_thread(resolve_target, request)
    runtime = await job.runtime(request.source.text)
    case = Case(
        request.action, request.language, request.path, request.source, request.source, target.name, job.tools,
        runtime=runtime,
    )  # fmt: skip
    found = await hot_line(case)
    if found is None or not target.span.contains(request.source.line_span(found.line)):
        return ()
    message = f"this line takes {100 * found.share:.0f} % of the time"
    return (Diagnostic(request.source.line_span(found.line), message, Severity.INFORMATION, source="profile"),)


ACTION = Action(ACTIONS["optimize"], TASK, run)

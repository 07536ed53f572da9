"""The judge: runs the examples and the project's tests on every file that the steps so far changed."""

from __future__ import annotations

from dataclasses import replace

from stet_ls.engine.actions.action import finish_answer, refusal
from stet_ls.engine.actions.arms.arm import StepRun
from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.evidence import Evidence, JudgedEdits, Ruling
from stet_ls.engine.api.summary import Summary
from stet_ls.engine.judges.case import Case, timed
from stet_ls.engine.judges.table import judges_for
from stet_ls.validators.languages import language_of


async def check(run: StepRun) -> Answer:
    """The evidence about all changes together; a refutation fails the step."""
    job, found = run.job, list[Evidence]()
    changed = run.overlay.changes()
    runtime = await job.runtime_for_judges(*(after.text for _, after in changed.values()))
    for path, (before, after) in changed.items():
        case = Case(
            job.request.action, language_of(path), path, before, after, tools=job.tools, runtime=runtime,
            buffers=job.request.workspace.buffers, planned=True,
        )  # fmt: skip
        found += [await timed(judge, case) for judge in judges_for(JudgedEdits.RUNS)]
    if not changed:
        return refusal(job, "Task: there is nothing to check yet.")
    failed = next((item for item in found if item.verdict is Ruling.FAIL), None)
    if failed is not None:
        return replace(refusal(job, f"Task: {failed.title} failed: {failed.detail}"), evidence=tuple(found))
    request = job.request
    return finish_answer(job, Answer(True, request.action, request.language, Summary("Checked"), evidence=tuple(found)))

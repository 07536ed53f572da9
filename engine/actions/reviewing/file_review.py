"""The review of one changed file as an action, so that it has a job's limits, ledger and record."""

from __future__ import annotations

from dataclasses import replace

from stet_ls.engine.actions.action import Action, finish_answer
from stet_ls.engine.actions.reviewing.report import markdown
from stet_ls.engine.actions.reviewing.review import SPEC, TASK, ReviewSubject, review
from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.metadata import Metadata
from stet_ls.engine.api.summary import Summary
from stet_ls.engine.job.job import Job
from stet_ls.engine.markdown import harmless


def file_review(subject: ReviewSubject, unasked: str) -> Action:
    """The action that reviews a subject. `unasked` says why no reviewer is asked, "" if one is."""

    async def run(job: Job) -> Answer:
        seen = await review(job, replace(subject, request=job.request), unasked=unasked)
        answer = Answer(
            success=True,
            action=SPEC.name,
            language=job.request.language,
            summary=Summary("Reviewed", job.request.path.name if job.request.path else ""),
            markdown=harmless(markdown(seen.review)),
            metadata=Metadata(review=seen.review),
        )
        return finish_answer(job, answer)

    return Action(SPEC, TASK, run)

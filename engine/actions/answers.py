"""How answers are put together: the refusal, and what every answer's end has in common."""

from __future__ import annotations

from dataclasses import replace

from stet_ls.engine.job import Job
from stet_ls.engine.models import Answer


def refusal(job: Job, message: str) -> Answer:
    """An answer that offers nothing and says why in one sentence."""
    return finished(job, Answer(False, job.request.action, job.request.language, message))


def finished(job: Job, answer: Answer) -> Answer:
    """The answer with the job's ledger and warnings in it."""
    return replace(
        answer,
        warnings=(*answer.warnings, *job.ledger.warnings),
        metadata={**job.metadata(), **answer.metadata},
    )

"""How answers are put together: the refusal, and what every answer's end has in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.metadata import Metadata
from stet_ls.engine.api.summary import Summary
from stet_ls.engine.job.job import Job


def refusal(job: Job, problem: str, metadata: Metadata | None = None) -> Answer:
    """An answer that offers nothing and says why in one sentence."""
    request = job.request
    summary = Summary(problem=problem)
    return finished(job, Answer(False, request.action, request.language, summary, metadata=metadata or Metadata()))


def isolation(job: Job) -> Mapping[str, Any] | None:
    """The weakest box in which code of the job ran so far; None if none ran."""
    return None if job.usage.isolation is None else job.usage.isolation.to_json()


def finished(job: Job, answer: Answer) -> Answer:
    """The answer with the job's ledger and warnings in it, and the weakest box in which code of it ran."""
    return replace(
        answer,
        warnings=(*answer.warnings, *job.usage.warnings),
        isolation=isolation(job),
        metadata=job.metadata(answer.metadata),
    )

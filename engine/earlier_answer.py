"""An earlier answer of the same job, judged once more with what the user has stated since; no model is called."""

from __future__ import annotations

from dataclasses import replace

from stet_ls.engine.actions.action import Action, isolation
from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.evidence import EvidenceTier
from stet_ls.engine.errors import LimitError, ModelError, UsageError
from stet_ls.engine.job.job import Job
from stet_ls.engine.model.chat import known_reply


async def answer_from_earlier(job: Job, action: Action) -> Answer | None:
    """The request's `candidate`, if examples or tests now pass on it; None if a model has to be asked."""
    warned = list(job.usage.warnings)
    job.canned_reply = known_reply(job.request.candidate, job.request.language)
    try:
        answer = await action.run(job)
    except (ModelError, LimitError, UsageError):
        return None
    finally:
        job.canned_reply = None
    if answer.success and not answer.refuted and answer.metadata.evidence_tier is EvidenceTier.TESTED:
        return replace(answer, isolation=isolation(job))
    job.usage.warnings[:] = warned
    return None

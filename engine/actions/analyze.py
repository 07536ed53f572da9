"""Analyze: failures that a run confirmed, what tools found, and the model's opinions, if their quote is in the code."""

from __future__ import annotations

from collections.abc import Sequence

from stet_ls.engine.actions.action import Action, finish_answer
from stet_ls.engine.actions.analysis.analysis_report import finding_count, report
from stet_ls.engine.actions.analysis.model_findings import ModelFindings, ask_for_findings
from stet_ls.engine.actions.analysis.target_measures import measure
from stet_ls.engine.actions.prose import prose
from stet_ls.engine.api.actions import ACTIONS
from stet_ls.engine.api.answer import CONFIRMED, Answer
from stet_ls.engine.api.summary import Summary
from stet_ls.engine.job.job import Job
from stet_ls.engine.plurals import plural
from stet_ls.engine.prompt.build import TaskSpec
from stet_ls.validators.findings import Finding

TASK = TaskSpec("Review the code: which lines of it go wrong, and for which input?", reply_kind="findings")


async def run(job: Job) -> Answer:
    """Answers with findings and a report. Without a model the measured part remains."""
    request = job.request
    target = await prose.find_target(job)
    with job.stage("judge"):
        measures = await measure(job, target)
    opinions = await ask_for_findings(job, target, ACTION, measures.functions or ())
    with job.stage("finish"):
        heading = prose.heading(job, target)
        own = opinions.findings(request.source)
        answer = Answer(
            success=True,
            action=request.action,
            language=request.language,
            summary=Summary("Analyzed", heading, notes=_counts(measures.findings, opinions, own)),
            markdown=report(job, target, heading, prose.lines_of(job, target), measures, opinions),
            code=request.source.slice(target.span),
            explanation="\n".join(finding.message for finding in own),
            warnings=(opinions.note,) if opinions.note else (),
            findings=(*sorted(own, key=lambda one: one.source != CONFIRMED), *measures.findings),
            base=request.source,
            guard=target.span,
        )
        return finish_answer(job, answer)


def _counts(measured: Sequence[Finding], opinions: ModelFindings, own: Sequence[Finding]) -> tuple[str, ...]:
    """The confirmed failures first: next to one, no one reads that tools found nothing."""
    confirmed = len(opinions.confirmed)
    failures = (f"{plural(confirmed, 'confirmed failure')}",) if confirmed else ()
    tools = (finding_count(measured),) if measured or not confirmed else ()
    rest = len(own) - confirmed
    return (*failures, *tools, *((f"{rest} of the model's opinions",) if rest else ()))


ACTION = Action(ACTIONS["analyze"], TASK, run)

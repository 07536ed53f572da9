"""Analyze: what tools measured; then, apart from it, the model's opinions, if the line they quote is in the code."""

from __future__ import annotations

from stet_ls.engine.actions.action import Action, finished
from stet_ls.engine.actions.analysis.analysis_report import counted, report
from stet_ls.engine.actions.analysis.measures import measure
from stet_ls.engine.actions.analysis.model_findings import ask_for_findings
from stet_ls.engine.actions.prose import prose
from stet_ls.engine.api.actions import ACTIONS
from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.summary import Summary
from stet_ls.engine.job.job import Job
from stet_ls.engine.prompt.build import TaskSpec

TASK = TaskSpec("Review the code: which lines of it go wrong, and for which input?", wants="findings")


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
        note = (f"{len(own)} of the model's opinions",) if own else ()
        answer = Answer(
            success=True,
            action=request.action,
            language=request.language,
            summary=Summary("Analyzed", heading, notes=(counted(measures.findings), *note)),
            markdown=report(job, target, heading, prose.lines_of(job, target), measures, opinions),
            code=request.source.slice(target.span),
            explanation="\n".join(finding.message for finding in own),
            warnings=(opinions.note,) if opinions.note else (),
            findings=(*measures.findings, *own),
            base=request.source,
            guard=target.span,
        )
        return finished(job, answer)


ACTION = Action(ACTIONS["analyze"], TASK, run)

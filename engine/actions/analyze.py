"""Analyze: what tools measured about the code, then what the model thinks of it, kept apart."""

from __future__ import annotations

import asyncio

from stet_ls.engine.actions import prose
from stet_ls.engine.actions.answers import finished
from stet_ls.engine.actions.recipe import Recipe
from stet_ls.engine.errors import StetError
from stet_ls.engine.job import Job
from stet_ls.engine.judges.case import lint_findings, verdict
from stet_ls.engine.loop import Unusable
from stet_ls.engine.markdown import harmless
from stet_ls.engine.models import Answer, Budget, Target
from stet_ls.engine.prompt.build import Task
from stet_ls.validators.findings import Finding, Status

TASK = Task(
    action="analyze",
    goal="Review the code: find bugs, risks and weak spots.",
    wants="prose",
    rules=(
        "List at most five findings, the worst first, each in one or two sentences.",
        "Begin each finding with the line it is about, quoted in backticks.",
        "Only real problems; if there are none, say so.",
        "Do not rewrite the code.",
    ),
)


async def run(job: Job) -> Answer:
    """Answers with a report. Its numbers come from tools; without a model the measured part still stands."""
    request = job.request
    target = await prose.find_target(job)
    with job.stage("judge"):
        findings, checked_by = await asyncio.to_thread(_measure, job, target)
    opinion, note = ("", "The quick budget asks no model.")
    if request.budget is not Budget.QUICK:
        opinion, note = await _opinion(job, target)
    with job.stage("finish"):
        count = f"{len(findings)} finding{'' if len(findings) == 1 else 's'}"
        lines = [f"# Analysis of {prose.heading(job, target)}", "", f"{prose.lines_of(job, target)}", ""]
        lines += ["## Measured", "", f"{count} by {checked_by}.", ""]
        lines += [_row(job, finding) for finding in findings]
        lines += ["", "## The model's opinion", "", opinion or note, ""]
        if opinion:
            lines.append(f"_By {job.ledger.model}; not verified._")
        answer = Answer(
            success=True,
            action=request.action,
            language=request.language,
            message=f"Analyzed {prose.heading(job, target)} · {count} measured",
            markdown=harmless("\n".join(lines)) + "\n",
            code=request.source.slice(target.span),
            explanation=opinion,
            warnings=() if opinion else (note,),
            findings=tuple(findings),
            base=request.source,
            guard=target.span,
        )
        return finished(job, answer)


async def _opinion(job: Job, target: Target) -> tuple[str, str]:
    """What the model says, or "" and why it says nothing."""
    try:
        told = await prose.tell(job, target, RECIPE)
    except StetError as error:
        return "", f"No opinion: {error}"
    if isinstance(told, Unusable):
        return "", f"No opinion: {told.problem}"
    return told.text, ""


def _measure(job: Job, target: Target) -> tuple[list[Finding], str]:
    request = job.request
    syntax = verdict(request.source, request.language, request.path)
    lint = lint_findings(request.source, request.language, request.path)
    tools = [syntax.source] if syntax.status is not Status.UNKNOWN else []
    tools += ["the linter"] if lint is not None else []
    inside = [f for f in (*syntax.findings, *(lint or ())) if target.span.overlaps(f.span)]
    ordered = sorted(dict.fromkeys(inside), key=lambda finding: finding.span)
    return ordered, " and ".join(tools) if tools else f"no tool (none for {request.language} here)"


def _row(job: Job, finding: Finding) -> str:
    line = job.request.source.line_of(finding.span.start) + 1
    rule = f"{finding.source} {finding.code}".strip()
    return f"- line {line}: {finding.message} ({finding.severity}, {rule})"


RECIPE = Recipe("analyze", "Analyze", "Report what tools and the model find.", TASK, run)

"""Puts the results of the steps together: one answer over all files, with a word about what is missing."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from stet_ls.engine.actions.action import finish_answer, refusal
from stet_ls.engine.actions.arms.guardian import AdditionKind, additions_in
from stet_ls.engine.actions.multi_file.attribution import files_with_steps, with_steps
from stet_ls.engine.actions.planning.plan_text import UNCHECKED
from stet_ls.engine.actions.planning.unrequested_changes import unrequested_changes
from stet_ls.engine.actions.planning.workspace_overlay import WorkspaceOverlay
from stet_ls.engine.actions.task_run.step_results import StepResults
from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.arms import Capability
from stet_ls.engine.api.evidence import WORST_FIRST, Check, Evidence, Ruling
from stet_ls.engine.api.metadata import Metadata
from stet_ls.engine.api.plan import STEP_KINDS, Plan, PlanStep
from stet_ls.engine.api.summary import Summary
from stet_ls.engine.job.job import Job
from stet_ls.engine.judges.calibration import DEFAULT


def put_together(job: Job, plan: Plan, results: StepResults, overlay: WorkspaceOverlay) -> Answer:
    """The answer of a task. Without any result it is a refusal that names the first step that failed."""
    report = "\n".join(_line(step, results) for step in plan.steps)
    done = {number: results.done[number] for number in sorted(results.done)}
    if not results.edits():
        return _without_edit(job, plan, results, done, report)
    files = overlay.new_files
    made = {file.path for answer in done.values() for file in answer.files}  # by programs that ran
    evidence = (
        *_together(done),
        *unrequested_changes(
            tuple(file for file in files if file.path not in made), tuple(done.values()), overlay.kept
        ),
        *_guarded(overlay, done),
    )
    refuted = any(item.verdict is Ruling.FAIL for item in evidence)
    answer = Answer(
        success=True,
        action=job.request.action,
        language=job.request.language,
        summary=Summary(
            f"{'Tried' if refuted else 'Did'} {_head(plan, done)}",
            new_files=tuple(file.path.name for file in files),
            notes=_notes(plan, results),
        ),
        edits=with_steps(overlay.edits, done),
        new_files=files_with_steps(files, done),
        code="\n\n".join(each.code for each in done.values() if each.code),
        tests=next((each.tests for each in reversed(done.values()) if each.tests), None),
        markdown=_reports(plan, done),
        explanation="\n\n".join(filter(None, (report, _reports(plan, done)))),
        confidence=math.prod(each.confidence for each in done.values() if each.edits or each.new_files),
        warnings=_warnings(job, done),
        evidence=evidence,
        execution=next((each.execution for each in reversed(done.values()) if each.execution), None),
        files=tuple(file for each in done.values() for file in each.files),
        metadata=_metadata(plan, done),
    )
    return finish_answer(job, answer)


def _reports(plan: Plan, done: Mapping[int, Answer]) -> str:
    """What the steps that end in a report found out; what a search found was for later steps."""
    shown = {number: each for number, each in done.items() if each.markdown and _is_reported(plan.step(number))}
    return "".join(f"## {plan.step(number)}\n\n{each.markdown}\n\n" for number, each in shown.items())


def _is_reported(step: PlanStep) -> bool:
    return not STEP_KINDS[step.action].edits and step.capability is not Capability.SEARCH


def _without_edit(job: Job, plan: Plan, results: StepResults, done: Mapping[int, Answer], report: str) -> Answer:
    """The reports of the steps, if they are all that was wanted; else a refusal."""
    problems = {**results.failed, **results.lost}
    if done and not problems:
        parts = [f"## {plan.step(number)}\n\n{each.markdown or each.message}" for number, each in done.items()]
        answer = Answer(
            True,
            job.request.action,
            job.request.language,
            Summary(f"Did {_head(plan, done)}", notes=_notes(plan, results)),
            markdown="\n\n".join(parts) + "\n",
            explanation=report,
            evidence=_together(done),
            warnings=_warnings(job, done),
            metadata=_metadata(plan, done),
        )
        return finish_answer(job, answer)
    at = min(problems, default=min(results.skipped, default=1))
    first = plan.enabled[0].number if plan.enabled else at
    which = "first step" if at == first else f"step {at}"
    why = problems.get(at, results.skipped.get(at, ""))
    no = refusal(job, f"Task: no edit. The plan's {which}, {plan.step(at)}, failed: {why}")
    return replace(no, explanation=report, nothing_to_do=not problems, metadata=job.metadata(_metadata(plan, done)))


def _head(plan: Plan, done: Mapping[int, Answer]) -> str:
    count = "one step" if len(done) == 1 else f"{len(done)} steps"
    return f"{len(done)} of {len(plan.enabled)} steps" if len(done) < len(plan.enabled) else count


def _notes(plan: Plan, results: StepResults) -> tuple[str, ...]:
    notes = [f"skipped {plan.step(number)}: {reason}" for number, reason in sorted(results.skipped.items())]
    notes += [f"stopped at {plan.step(number)}: {reason}" for number, reason in sorted(results.failed.items())]
    notes += [f"not done {plan.step(number)}: {reason}" for number, reason in sorted(results.lost.items())]
    notes += [f"{len(results.resumed)} of them done before"] if results.resumed else []
    notes += [f"the changes of {results.taken} of them are in the files already"] if results.taken else []
    return tuple(notes)


def _warnings(job: Job, done: Mapping[int, Answer]) -> tuple[str, ...]:
    every = dict.fromkeys(warning for each in done.values() for warning in each.warnings)
    return tuple(warning for warning in every if warning not in job.usage.warnings)


def _guarded(overlay: WorkspaceOverlay, done: Mapping[int, Answer]) -> tuple[Evidence, ...]:
    """Secrets and words for a model in new files: each step's judges looked for risks, and at the existing files."""
    new = {file.path for file in overlay.new_files}
    judged = {item.detail for answer in done.values() for item in answer.evidence if item.check is Check.DANGER}
    found = [
        each.text
        for path, (before, after) in overlay.changes().items()
        if path in new
        for each in additions_in(path.name, before, after)
        if each.kind is not AdditionKind.RISK
    ]
    return tuple(Evidence(Check.DANGER, Ruling.UNKNOWN, each, trusted=True) for each in found if each not in judged)


def _metadata(plan: Plan, done: Mapping[int, Answer]) -> Metadata:
    """The plan, and for each step the rows of the table that its chance comes from, and the reason."""
    rows = dict.fromkeys(each.metadata.calibration or DEFAULT for each in done.values())
    return Metadata(
        calibration=", ".join(rows),
        reasons=tuple(
            f"step {number}: {'; '.join(each.metadata.reasons)}"
            for number, each in done.items()
            if each.metadata.reasons
        ),
        confidence_interval=_interval(done),
        steps=tuple(str(step) for step in plan.enabled),
    )


def _interval(done: Mapping[int, Answer]) -> tuple[float, float] | None:
    """The bounds of the confidence, if that of a step is an estimate."""
    changing = [each for each in done.values() if each.edits or each.new_files]
    if not any(each.metadata.confidence_interval for each in changing):
        return None
    bounds = [each.metadata.confidence_interval or (each.confidence, each.confidence) for each in changing]
    return math.prod(low for low, _ in bounds), math.prod(high for _, high in bounds)


def _line(step: PlanStep, results: StepResults) -> str:
    number = step.number
    if not step.enabled:
        return f"{number}. {step}: left out"
    if number in results.done:
        before = " (done before)" if number in results.resumed else ""
        before += "" if step.criteria else f" ({UNCHECKED})"
        return f"{number}. {step}: {results.done[number].message}{before}"
    if number in results.skipped:
        return f"{number}. {step}: skipped, nothing to do: {results.skipped[number]}"
    state = results.failed.get(number) or results.lost.get(number, "not done")
    return f"{number}. {step}: {state} (requested: {step.instruction})"


def _together(done: Mapping[int, Answer]) -> tuple[Evidence, ...]:
    """One piece of evidence per check: the worst result of any step, and that step."""
    merged = []
    items = [(n, item) for n, answer in done.items() for item in answer.evidence]
    order = list(Check)
    for check, name in sorted({(item.check, item.name) for _, item in items}, key=lambda each: order.index(each[0])):
        same = [(n, item) for n, item in items if (item.check, item.name) == (check, name)]
        worst = min((item.verdict for _, item in same), key=WORST_FIRST.index)
        those = [(n, item) for n, item in same if item.verdict is worst]
        alike = len(those) == len(done) and len({item.detail for _, item in those}) == 1
        detail = "; ".join(dict.fromkeys(f"step {n}: {item.detail}" for n, item in those))
        detail = those[0][1].detail if alike else detail
        trusted = any(item.trusted for _, item in those)
        seconds = sum(item.seconds for _, item in same)
        count = sum(item.count for _, item in those)
        attached = tuple(replace(each, name=f"step-{n}-{each.name}") for n, item in same for each in item.attachments)
        codes = tuple(dict.fromkeys(code for _, item in same for code in item.codes))
        merged.append(Evidence(check, worst, detail, trusted, seconds, count, attached, codes, name))
    return tuple(merged)

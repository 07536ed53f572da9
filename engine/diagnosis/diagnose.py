"""Turns a report into diagnoses, and these into the feedback for a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stet_ls.engine.diagnosis import node_load_errors
from stet_ls.engine.diagnosis.diagnosis import Cause, CodeFacts, Diagnosis, Symptom
from stet_ls.engine.diagnosis.rules import RULES, unknown
from stet_ls.engine.runners.report import CaseFailure, Phase, SuiteOutcome, TestReport

_STOPPED = {SuiteOutcome.TIMEOUT: "timeout"}


def diagnose(report: TestReport, about: CodeFacts) -> tuple[Diagnosis, ...]:
    """One diagnosis for each failure of a report, in its order; none if it is green or nothing ran."""
    return tuple(_one(node_load_errors.parse(symptom), about) for symptom in symptoms(report))


def symptoms(report: TestReport) -> Iterator[Symptom]:
    """The failures one by one: files without tests first, then the cases."""
    for error in report.collection:
        yield Symptom("", error.path, error.failure)
    stopped = _STOPPED.get(report.outcome, "")
    if report.outcome is SuiteOutcome.LIMIT and report.run is not None:
        stopped = report.run.status.value
    for case in report.failed():
        failure = case.failure or CaseFailure("Failed", case.reason or "it failed without a message", Phase.CALL)
        file = case.id.partition("::")[0]
        yield Symptom(case.id, file, failure, stopped if case.id in report.running else "")
    if stopped and not report.running:
        yield Symptom("", "", CaseFailure("Stopped", report.detail, Phase.COLLECT), stopped)


def _one(symptom: Symptom, about: CodeFacts) -> Diagnosis:
    return next((found for rule in RULES if (found := rule(symptom, about)) is not None), unknown(symptom, about))


def repair_orders(diagnoses: Sequence[Diagnosis], *, missed: bool = False) -> str:
    """The feedback for a model: each failure and its fix. `missed`: it did not follow the previous feedback."""
    lines = []
    for diagnosis in diagnoses:
        if diagnosis.cause not in (Cause.LOGIC, Cause.ENVIRONMENT, Cause.UNDETERMINED):
            continue
        name = diagnosis.symptom.test or diagnosis.symptom.file
        order = f" You must {diagnosis.fix}." if diagnosis.fix is not None else ""
        lines.append(f"- {name}: {diagnosis.sentence}.{order}")
    if missed and lines:
        lines.insert(0, "Your last reply did not do what was asked. Do exactly this:")
    return "\n".join(lines)

"""Failures as models and people write them, with labels, run in the sandbox, and diagnosed by the table.

`tests/support/corpora/failures.py` says how the labels are kept. The share is over a runner's failures;
the wrong ones are printed, since one more rule may not be what they need.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.corpora.failures import FOLDER, UNSEEN, Label, LabeledRun, labeled_runs
from support.processes.tools import needs

from stet_ls.engine.diagnosis.diagnose import diagnose
from stet_ls.engine.diagnosis.diagnosis import Diagnosis
from stet_ls.engine.runners.plan import TestPlan
from stet_ls.engine.runners.report import TestReport
from stet_ls.engine.runners.run_tests import run_tests
from stet_ls.engine.sandbox.isolation import IsolationLevel
from stet_ls.engine.sandbox.sandbox import Sandbox
from stet_ls.engine.sandbox.spec import Limits

LANGUAGES = {"pytest": "python", "unittest": "python", "node": "javascript", "go": "go", "rust": "rust", "java": "java"}
RUNNERS = [
    pytest.param("pytest"),
    pytest.param("unittest"),
    pytest.param("node", marks=needs("node")),
    pytest.param("go", marks=needs("go")),
    pytest.param("rust", marks=needs("rustc", "cc")),
    pytest.param("java", marks=needs("javac", "java")),
]
ENOUGH = {FOLDER: 0.98, UNSEEN: 0.90}
"""The share whose diagnosis has to be right: of the failures that the rules were made by, and of the others."""


@pytest.mark.parametrize("folder", [pytest.param(FOLDER, id="seen"), pytest.param(UNSEEN, id="unseen")])
@pytest.mark.parametrize("runner", RUNNERS)
async def test_the_diagnosis_agrees_with_the_labels(runner: str, folder: Path, probes: Path) -> None:
    sandbox = Sandbox(IsolationLevel.STRONG, probes)
    wrong: list[str] = []
    count = 0
    for each in labeled_runs(runner, folder):
        wrong += judged(each, LANGUAGES[runner], await run(sandbox, each, runner))
        count += len(each.labels)
    await sandbox.close()

    right = count - len(wrong)
    print(f"{runner}: {right} of {count} right", *wrong, sep="\n  ")
    assert right >= ENOUGH[folder] * count, "\n".join(wrong)


async def run(sandbox: Sandbox, each: LabeledRun, runner: str) -> TestReport:
    plan = TestPlan(
        LANGUAGES[runner],
        each.tests,
        {path: text.encode() for path, text in each.files.items()},
        framework="unittest" if runner == "unittest" else "",
        limits=Limits(seconds=each.seconds, wall_factor=60.0) if each.seconds else None,
    )
    return await run_tests(sandbox, plan)


def judged(each: LabeledRun, language: str, report: TestReport) -> Iterator[str]:
    """A line for each failure that has a wrong diagnosis, did not take place, or has no label."""
    seen: set[str] = set()
    for label in each.labels:
        about = each.about(label, language, None)
        diagnoses = [one for one in diagnose(report, about) if label.of(one)]
        seen |= {one.symptom.test or one.symptom.file for one in diagnoses}
        if not diagnoses or diagnoses[0].cause is not label.cause:
            yield line(each, label, diagnoses)
    ended = {one.symptom.test or one.symptom.file for one in diagnose(report, about)}
    for name in sorted(ended - seen):
        yield f"{each.name} {name}: it failed, and has no label"


def line(each: LabeledRun, label: Label, diagnoses: list[Diagnosis]) -> str:
    if not diagnoses:
        return f"{each.name} {label}: {label.cause}, but it did not fail"
    failure = diagnoses[0].symptom.failure
    said = failure.message.strip().partition("\n")[0][:120]
    return f"{each.name} {label}: {label.cause}, but {diagnoses[0].kind} was told of {failure.type}: {said}"

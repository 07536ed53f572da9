"""Checks the acceptance criteria of a step on its answer, before the answer counts."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace

from stet_ls.engine.actions.arms import executor
from stet_ls.engine.actions.arms.arm import StepRun
from stet_ls.engine.actions.rewriting.stated_examples import literal_at, shown_example
from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.evidence import Check, Evidence, Ruling
from stet_ls.engine.api.plan import Criterion, CriterionKind
from stet_ls.engine.errors import UsageError
from stet_ls.engine.judges import doctest
from stet_ls.engine.judges.case import Case
from stet_ls.engine.runners.plan import SuiteOwner, TestPlan
from stet_ls.engine.runners.report import SuiteOutcome
from stet_ls.engine.runners.run_tests import run_tests
from stet_ls.engine.sandbox.spec import Overlay, RunStatus
from stet_ls.validators.languages import language_of
from stet_ls.validators.source import Source

_NAME = "acceptance"
_WRONG = frozenset({SuiteOutcome.RED, SuiteOutcome.ERROR, SuiteOutcome.TIMEOUT, SuiteOutcome.LIMIT})


@dataclass(frozen=True, slots=True)
class Acceptance:
    """An answer with the evidence for each criterion. `unmet` is the first that failed, `detail` why."""

    answer: Answer
    unmet: Criterion | None = None
    detail: str = ""

    @property
    def problem(self) -> str:
        """Why it is not accepted; "" if it is."""
        return f"not accepted: {self.unmet}: {self.detail}" if self.unmet else ""

    @property
    def is_unknown_to_action(self) -> bool:
        """Whether the action did not know the problem: what a judge of its own refutes, it repaired if it could."""
        return self.unmet is not None and self.unmet.kind is not CriterionKind.JUDGE


async def check_criteria(run: StepRun, answer: Answer) -> Acceptance:
    """Checks each criterion. What could not be checked is unknown, and does not fail the step.

    A plan of one step is a plain action, and what its judges refute is shown with the edit as there.
    """
    alone = len(run.plan.enabled) == 1
    criteria = [each for each in run.step.criteria if not (alone and each.kind is CriterionKind.JUDGE)]
    if not criteria:
        return Acceptance(answer)
    after = replace(run, overlay=run.overlay.with_answer(answer))
    evidence, result = list(answer.evidence), Acceptance(answer)
    for criterion in criteria:
        item = await _CHECKS[criterion.kind](after, answer, criterion)
        if item is None:
            continue
        if item not in evidence:
            evidence.append(item)
        if item.verdict is Ruling.FAIL and result.unmet is None:
            result = replace(result, unmet=criterion, detail=item.detail)
    return replace(result, answer=replace(answer, evidence=tuple(evidence)))


async def _judge(run: StepRun, answer: Answer, criterion: Criterion) -> Evidence | None:
    """The judge's own evidence. An opinion of a judge that is not trusted fails no step."""
    found = (item for item in answer.evidence if item.label == criterion.text)
    return next((item for item in found if item.verdict is not Ruling.FAIL or item.trusted), None)


async def _example(run: StepRun, answer: Answer, criterion: Criterion) -> Evidence:
    text = run.overlay.text(run.step.path)
    if text is None:
        return _evidence(Ruling.UNKNOWN, f"`{criterion.text}` not run: there is no {run.step.path.name}")
    call, _, value = criterion.text.rpartition("==")
    literal = literal_at(value.strip()) if call.strip() else None
    source, want = (criterion.text, "True") if literal is None else shown_example(call.strip(), literal)
    before, language = run.job.request.source, language_of(run.step.path)
    case = Case(
        run.job.request.action, language, run.step.path, before, Source(text), run.step.unit or run.step.new,
        tools=run.job.tools, runtime=await run.job.runtime_for_judges(text), user_examples=f">>> {source}\n{want}\n",
        buffers=run.job.request.workspace.buffers,
    )  # fmt: skip
    item = await doctest.judge(case)
    known = item.verdict if item.verdict in (Ruling.PASS, Ruling.FAIL) else Ruling.UNKNOWN
    return _evidence(known, f"`{criterion.text}` holds" if known is Ruling.PASS else item.detail)


async def _test(run: StepRun, answer: Answer, criterion: Criterion) -> Evidence:
    runtime = await run.job.runtime_for_judges(*run.overlay.texts.values())
    if runtime is None:
        return _evidence(Ruling.UNKNOWN, f"{criterion.text} not run: no code ran")
    file, node, _ = criterion.text.partition("::")
    language = language_of(file)
    inside = run.overlay.bytes_below(run.plan.root)
    if file not in inside and not await asyncio.to_thread((run.plan.root / file).is_file):
        return _evidence(Ruling.FAIL, f"the test file {file} does not exist")
    plan = TestPlan(
        language, (file,), overlay=Overlay(run.plan.root, inside), suite=SuiteOwner.PROJECT,
        select=(criterion.text,) if node else (), environment=runtime.environment(language), until=runtime.until,
    )  # fmt: skip
    try:
        report = await run_tests(runtime.sandbox, plan)
    except UsageError as error:
        return _evidence(Ruling.UNKNOWN, f"{criterion.text} not run: {error}")
    if report.outcome is SuiteOutcome.GREEN:
        return _evidence(Ruling.PASS, f"{criterion.text} passes")
    failed = next((f"{each.id}: {each.failure.message}" for each in report.failed() if each.failure), report.detail)
    verdict = Ruling.FAIL if report.outcome in _WRONG else Ruling.UNKNOWN
    return _evidence(verdict, f"{criterion.text}: {failed}".partition("\n")[0])


async def _command(run: StepRun, answer: Answer, criterion: Criterion) -> Evidence:
    runtime = await run.job.runtime_for_judges(*run.overlay.texts.values())
    if runtime is None:
        return _evidence(Ruling.UNKNOWN, f"`{criterion.text}` not run: no code ran")
    result = await executor.in_overlay(runtime, criterion.text, run)
    if isinstance(result, str):
        return _evidence(Ruling.UNKNOWN, f"`{criterion.text}` not run: {result}")
    verdict = {RunStatus.OK: Ruling.PASS, RunStatus.NO_RUNNER: Ruling.UNKNOWN}.get(result.status, Ruling.FAIL)
    return _evidence(verdict, f"`{criterion.text}`: {executor.ending_text(result)}")


def _evidence(verdict: Ruling, detail: str) -> Evidence:
    """A plan's criteria are a model's or a user's words about one step: they stop it, and prove nothing else."""
    return Evidence(Check.CUSTOM, verdict, detail, name=_NAME)


_CHECKS: Mapping[CriterionKind, Callable[[StepRun, Answer, Criterion], Awaitable[Evidence | None]]] = {
    CriterionKind.JUDGE: _judge,
    CriterionKind.EXAMPLE: _example,
    CriterionKind.TEST: _test,
    CriterionKind.COMMAND: _command,
}

"""Derives the outcome of a suite: compares the report with what was expected and how the process ended."""

from __future__ import annotations

from collections.abc import Sequence

from stet_ls.engine.runners.plan import TestPlan
from stet_ls.engine.runners.report import CaseOutcome, CaseResult, SuiteOutcome, TestReport
from stet_ls.engine.runners.reporter_events import ReporterEvents
from stet_ls.engine.sandbox.spec import RunResult, RunStatus

_LIMITS = {
    RunStatus.STARVED: "the machine was too busy, or too little time was left",
    RunStatus.MEMORY: "memory limit exceeded",
    RunStatus.OUTPUT: "output limit exceeded",
    RunStatus.DISK: "disk limit exceeded",
    RunStatus.PROCESSES: "process limit exceeded",
}
_STOPPED = {SuiteOutcome.TIMEOUT: "did not finish", SuiteOutcome.LIMIT: "wrote more than it may"}
_RAN = frozenset({CaseOutcome.PASSED, CaseOutcome.FAILED, CaseOutcome.ERROR, CaseOutcome.XFAILED, CaseOutcome.XPASSED})
_BAD = frozenset({CaseOutcome.FAILED, CaseOutcome.ERROR})


def suite_report(
    plan: TestPlan, name: str, expected: Sequence[str], found: ReporterEvents, run: RunResult, install: str
) -> TestReport:  # fmt: skip
    """The report of a run that took place. `install` is the remedy if the sandbox lacks the runner's program."""
    cases = _merged(found.cases)
    missing = _missing((*expected, *found.known), cases)
    outcome, detail = _outcome(found, run, cases, missing)
    cases += [CaseResult(each, CaseOutcome.NOT_RUN) for each in missing]
    return TestReport(
        runner=name,
        outcome=outcome,
        run=run,
        cases=tuple(cases),
        collection=tuple(found.collection),
        missing=missing,
        running=found.running,
        detail=detail,
        install=install if outcome is SuiteOutcome.NO_RUNNER else "",
        seed=plan.seed,
        coverage=found.coverage,
        traced=found.traced,
        signs=found.signs,
        captured=found.captured,
    )


def _outcome(
    found: ReporterEvents, run: RunResult, cases: Sequence[CaseResult], missing: Sequence[str]
) -> tuple[SuiteOutcome, str]:  # fmt: skip
    """The outcome, and the sentence for it."""
    during = f" while {found.running[-1]} ran" if found.running else ""
    if run.status is RunStatus.TIMEOUT:
        return SuiteOutcome.TIMEOUT, f"stopped after {run.lasted}{during}"
    if run.status in _LIMITS:
        return SuiteOutcome.LIMIT, f"stopped{during}: {_LIMITS[run.status]}"
    if found.stopped:
        return found.stopped, f"stopped{during}: it {_STOPPED[found.stopped]}"
    if found.absent or run.status is RunStatus.NO_RUNNER:
        return SuiteOutcome.NO_RUNNER, f"{found.absent or 'the program'} is not here"
    if found.collection or found.broken:
        first = found.broken or f"{found.collection[0].path}: {found.collection[0].failure.message}"
        return SuiteOutcome.ERROR, first.strip().partition("\n")[0]
    if any(case.outcome is CaseOutcome.FAILED for case in cases):
        return SuiteOutcome.RED, _counted(cases)
    if found.running or (not found.finished and not any(case.outcome in _BAD for case in cases)):
        return SuiteOutcome.INCOMPLETE, f"the process ended early{during} ({_ending(run)})"
    if any(case.outcome in _BAD for case in cases):
        return SuiteOutcome.RED, _counted(cases)
    return _without_failures(found, run, cases, missing)


def _without_failures(
    found: ReporterEvents, run: RunResult, cases: Sequence[CaseResult], missing: Sequence[str]
) -> tuple[SuiteOutcome, str]:  # fmt: skip
    if missing:
        names = ", ".join(missing[:5]) + (f" and {len(missing) - 5} more" if len(missing) > 5 else "")
        return SuiteOutcome.INCOMPLETE, f"never reported: {names}"
    if not any(case.outcome in _RAN for case in cases):
        return SuiteOutcome.NOTHING_RAN, "all tests were skipped" if cases else "there were no tests"
    if run.status is not RunStatus.OK or found.exit:
        return SuiteOutcome.ERROR, f"no test failed, but the runner exited with {_ending(run)}"
    return SuiteOutcome.GREEN, _counted(cases)


def _merged(cases: Sequence[CaseResult]) -> list[CaseResult]:
    """One case for each id: of several the failing one counts, so that no later report withdraws a failure."""
    kept: dict[str, CaseResult] = {}
    for case in cases:
        if case.id not in kept or (case.outcome in _BAD and kept[case.id].outcome not in _BAD):
            kept[case.id] = case
    return list(kept.values())


def _missing(expected: Sequence[str], cases: Sequence[CaseResult]) -> tuple[str, ...]:
    """The expected ids without a case. The cases of a parametrized test, `id[…]`, count for `id`."""
    reported = {case.id for case in cases if case.outcome is not CaseOutcome.NOT_RUN}
    reported |= {identifier.partition("[")[0] for identifier in reported}
    return tuple(dict.fromkeys(each for each in expected if each not in reported))


def _counted(cases: Sequence[CaseResult]) -> str:
    counts = {outcome: sum(case.outcome is outcome for case in cases) for outcome in CaseOutcome}
    return ", ".join(f"{count} {outcome}" for outcome, count in counts.items() if count)


def _ending(run: RunResult) -> str:
    if run.signal is not None:
        return f"signal {run.signal}"
    return f"exit {run.exit}" if run.exit is not None else run.status.value

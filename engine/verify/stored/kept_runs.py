"""Runs of tests and comparisons of units whose results are kept, with the keys under which they are found."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from stet_ls.engine.api.evidence import Ruling
from stet_ls.engine.judges.case import Case
from stet_ls.engine.privacy.secrets.scan import find_secrets
from stet_ls.engine.runners.captured_calls import CapturedCall
from stet_ls.engine.runners.report import SuiteOutcome, TestReport
from stet_ls.engine.verify.changes.reached_files import ReachedFiles
from stet_ls.engine.verify.changes.units import UnitChange
from stet_ls.engine.verify.report import CheckResult
from stet_ls.engine.verify.stored.records import key_of
from stet_ls.engine.verify.stored.result_cache import VerifyCache

_ENDED = frozenset({SuiteOutcome.GREEN, SuiteOutcome.RED, SuiteOutcome.ERROR, SuiteOutcome.NOTHING_RAN})
_BELOW_LIMITS = 2.5
"""Seconds below every time limit within a comparison: one that took less was stopped by none of them."""

_ENOUGH = 15.0
"""Seconds left to a budget with which no comparison is shortened."""


@dataclass(frozen=True, slots=True)
class KeptRuns:
    """The kept results for one language. `environment` identifies what code runs with; "" if it is unknown, and then
    nothing is kept.
    """

    cache: VerifyCache
    environment: str
    reached: ReachedFiles

    async def tests(
        self, parts: Any, files: Iterable[str], run: Callable[[], Awaitable[TestReport | None]], *, is_old: bool
    ) -> TestReport | None:
        """The report of a run of test files on a tree that differs from the old or the new one as `parts` say."""
        key = ""
        if self.environment:
            state = self.reached.old(files) if is_old else self.reached.new(files)
            key = key_of("tests", self.environment, state, parts)
        known = self.cache.get(TestReport, key)
        if known is not None:
            return known
        report = await run()
        if report is not None and report.outcome in _ENDED and not report.starved and not _holds_secret(report):
            self.cache.put(TestReport, key, replace(report, run=None))
        return report

    async def comparison(
        self, case: Case, unit: UnitChange, parts: Any, run: Callable[[], Awaitable[CheckResult]]
    ) -> CheckResult:
        """The result of comparing a unit: the inputs come from the calls of the tests, and from their texts."""
        key = ""
        if self.environment:
            calls = case.runtime.captured.get((case.path, case.before.text)) if case.runtime and case.path else None
            about = unit.name, repr(unit.parts), case.before.text, case.after.text, _shown(calls), parts
            key = key_of("comparison", self.environment, self.reached.new((unit.path,)), about)
        known = self.cache.get(CheckResult, key)
        if known is not None:
            return known
        began, is_early = time.monotonic(), case.runtime is not None and case.runtime.left() > _ENOUGH
        result = await run()
        ended = result.status in (Ruling.PASS, Ruling.FAIL) or time.monotonic() - began < _BELOW_LIMITS
        if is_early and ended:
            self.cache.put(CheckResult, key, result)
        return result


def _holds_secret(report: TestReport) -> bool:
    """Whether tests printed a secret, or called something with one: it stays where it is."""
    printed = (each.stdout for each in report.cases)
    calls = (call for each in report.captured.values() for call in each.calls)
    given = (
        "\n".join((*(f"{name} = {text}" for name, text in call.texts.items()), " ".join(call.words), *_lived(call)))
        for call in calls
    )
    return any(find_secrets(text, config=True) for text in (*printed, *given) if text)


def _lived(call: CapturedCall) -> Iterator[str]:
    """What was called on the object of a captured call before."""
    yield from (f"{name} = {', '.join(given)}" for name, *given in call.life)


def _shown(calls: Any) -> list[Any]:
    """The captured calls with all that `repr` hides, in their order."""
    if calls is None:
        return []
    rows = [(each.unit, dict(each.texts), dict(each.held), each.data, each.life) for each in calls.calls]
    return [rows, repr(calls.uncaptured), calls.module, dict(calls.files)]

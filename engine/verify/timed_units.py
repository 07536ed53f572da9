"""The speed of changed units, old against new, where a change claims to make code faster.

A change for speed touches units that gain and units that only follow. So one that gains is enough, and a unit that
does not gain refutes the claim only if none does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from stet_ls.engine.api.evidence import Check, Evidence, Ruling
from stet_ls.engine.judges.case import Case, timed
from stet_ls.engine.judges.table import judge_of
from stet_ls.engine.verify.changes.intent import ChangeIntent
from stet_ls.engine.verify.changes.units import UnitChange
from stet_ls.engine.verify.report import NO_TIME, CheckResult

_LEAST_SECONDS = 4.0


async def timing_of(case: Case, unit: UnitChange) -> Evidence:
    """The measured speed of a changed unit."""
    if case.runtime is None or case.runtime.left() < _LEAST_SECONDS:
        return Evidence(Check.TIMING, Ruling.SKIPPED, NO_TIME)
    return await timed(judge_of(Check.TIMING), replace(case, unit=unit.name, parts=unit.parts))


def timed_results(measured: Mapping[UnitChange, Evidence], intent: ChangeIntent) -> Mapping[UnitChange, CheckResult]:
    """What the measured speeds say about the claim, for each unit."""
    gains = any(each.verdict is Ruling.PASS for each in measured.values())
    return {unit: _result(each, intent, gains=gains) for unit, each in measured.items()}


def _result(evidence: Evidence, intent: ChangeIntent, *, gains: bool) -> CheckResult:
    refutes = evidence.verdict is Ruling.FAIL and intent.is_stated and not gains
    result = CheckResult.of(replace(evidence, trusted=refutes), noted=evidence.verdict is not Ruling.PASS)
    return replace(result, opens=not gains)

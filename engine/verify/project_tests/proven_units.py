"""What passing tests do not prove about a unit, although they run its change."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from stet_ls.engine.api.evidence import Ruling
from stet_ls.engine.judges.case import Case
from stet_ls.engine.verify.changes.change import ChangedFile
from stet_ls.engine.verify.changes.intent import ChangeIntent, IntentKind
from stet_ls.engine.verify.changes.units import UnitChange, UnitChangeKind
from stet_ls.engine.verify.project_tests.edited_tests import asserts_nothing
from stet_ls.engine.verify.project_tests.near_inputs import narrow_condition
from stet_ls.engine.verify.project_tests.special_cases import special_case
from stet_ls.engine.verify.report import CheckResult


async def tests_of_unit(
    case: Case, unit: UnitChange, result: CheckResult, files: Sequence[ChangedFile], tests: Sequence[str],
    intent: ChangeIntent,
) -> CheckResult:  # fmt: skip
    """What the tests of a file say about one of its units: `result` unless they assert nothing, or the unit has a case
    of its own for their inputs.
    """
    if not result.proves or not unit.name:
        return result
    is_added = unit.change is UnitChangeKind.ADDED
    if is_added and await asyncio.to_thread(asserts_nothing, unit.name, files):
        detail = f"no test that calls `{unit.name}` asserts anything about its results"
        return CheckResult(result.check, Ruling.UNKNOWN, detail, noted=True, opens=True)
    before, after = case.before.text, case.after.text
    if value := await asyncio.to_thread(special_case, before, after, unit.name, tests):
        detail = f"new special case for {value}, an input of its tests"
    elif is_added or (unit.change is UnitChangeKind.CHANGED and intent.kind is IntentKind.FIX):
        detail = await narrow_condition(case, unit.name, tests)  # elsewhere, what differs from the old code is reported
    else:
        return result
    if not detail:
        return result
    return replace(result, status=Ruling.UNKNOWN, detail=detail, noted=True, proves=False, opens=True)

"""Withdraws a pass if the change tampers with the test runner: passing tests prove nothing then."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import replace

from stet_ls.engine.api.evidence import Evidence, Ruling
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.danger import judge as danger
from stet_ls.engine.judges.project_tests.language_table import for_language
from stet_ls.engine.runners.report import TestReport

_MOST_LISTED = 3


async def unless_forged(evidence: Evidence, case: Case, before: TestReport, after: TestReport) -> Evidence:
    """The evidence; a pass becomes unknown if the change adds what can forge it, or its run shows signs of that.

    What the text before did as well is the project's practice and does not count.
    """
    if evidence.verdict is not Ruling.PASS:
        return evidence
    added = await asyncio.to_thread(_added, case)
    return unless_suspicious(evidence, [*(f"adds `{name}`" for name in added), *sorted(after.signs - before.signs)])


def unless_suspicious(evidence: Evidence, signs: Collection[str]) -> Evidence:
    """The evidence; a pass becomes unknown if there are signs that it was forged."""
    if evidence.verdict is not Ruling.PASS or not signs:
        return evidence
    listed = "; ".join([*signs][:_MOST_LISTED])
    detail = f"{evidence.detail}, but the code can forge this result: {listed}"
    return replace(evidence, verdict=Ruling.UNKNOWN, trusted=False, count=0, detail=detail)


def _added(case: Case) -> tuple[str, ...]:
    assigned = for_language(case.language).assigned
    given = dict.fromkeys(assigned(case.after.text, case.path))
    old = set(assigned(case.before.text, case.path)) if given else set()
    return (*danger.forging_names(case), *(name for name in given if name not in old))

"""Tests that pass prove nothing where the change reaches for whoever runs them."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from stet_ls.engine.judges import danger
from stet_ls.engine.judges.case import Case
from stet_ls.engine.models import Evidence, Ruling
from stet_ls.engine.sandbox.runners.report import TestReport

_MOST_TOLD = 3


async def unless_forged(evidence: Evidence, case: Case, before: TestReport, after: TestReport) -> Evidence:
    """The evidence; a pass is open where the change adds what can forge it, or its run shows signs of that.

    What the text before did as well is the project's way, and speaks against nobody.
    """
    if evidence.verdict is not Ruling.PASS:
        return evidence
    added = await asyncio.to_thread(danger.forging, case)
    signs = [*(f"adds `{name}`" for name in added), *sorted(after.signs - before.signs)]
    if not signs:
        return evidence
    detail = (
        f"{evidence.detail}, but that proves nothing, since the change can forge it: {'; '.join(signs[:_MOST_TOLD])}"
    )
    return replace(evidence, verdict=Ruling.UNKNOWN, trusted=False, count=0, detail=detail)

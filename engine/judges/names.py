"""Do the names that the candidate uses exist?"""

from __future__ import annotations

import asyncio

from stet_ls.engine.judges.case import Case, undefined_names
from stet_ls.engine.models import Check, Evidence, Ruling
from stet_ls.validators.findings import new_findings


async def judge(case: Case) -> Evidence:
    """Fails on a name that is undefined now and was not before."""
    return await asyncio.to_thread(_judge, case)


def _judge(case: Case) -> Evidence:
    after = undefined_names(case.after, case.language, case.path, case.tools)
    if after is None:
        return Evidence(Check.NAMES, Ruling.SKIPPED, f"no name check for {case.language} here")
    new = new_findings(undefined_names(case.before, case.language, case.path, case.tools) or (), after)
    if new:
        return Evidence(Check.NAMES, Ruling.FAIL, "; ".join(finding.message for finding in new[:3]), trusted=True)
    return Evidence(Check.NAMES, Ruling.PASS, "names resolve", trusted=True)

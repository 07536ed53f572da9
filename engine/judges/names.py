"""Do the names that the candidate uses exist?"""

from __future__ import annotations

import asyncio

from stet_ls.engine.judges.case import Case, undefined_names
from stet_ls.engine.models import Check, Evidence, Ruling
from stet_ls.validators import go_names
from stet_ls.validators.findings import new_findings


async def judge(case: Case) -> Evidence:
    """Fails on a name that is undefined now and was not before."""
    return await asyncio.to_thread(_judge, case)


def _judge(case: Case) -> Evidence:
    after = undefined_names(case, case.after)
    if after is None:
        return Evidence(Check.NAMES, Ruling.SKIPPED, f"no name check for {case.language} here")
    before = undefined_names(case, case.before) or () if after else ()
    if new := new_findings(before, after):
        told = "; ".join(finding.message for finding in new[:3])
        if any(finding.source == go_names.SOURCE for finding in before):
            return Evidence(Check.NAMES, Ruling.UNKNOWN, f"perhaps {told}: files of the package are missing")
        return Evidence(Check.NAMES, Ruling.FAIL, told, trusted=True)
    return Evidence(Check.NAMES, Ruling.PASS, "names resolve", trusted=True)

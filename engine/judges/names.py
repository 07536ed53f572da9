"""Do the names that the candidate uses exist?"""

from __future__ import annotations

import asyncio

from stet_ls.engine.judges.case import Case, lint_findings
from stet_ls.engine.models import Check, Evidence, Ruling
from stet_ls.validators.findings import Finding, new_findings

UNDEFINED = ("F821", "F822", "F823")
"""ruff's rules for undefined names, undefined exports and locals used before they are bound."""


async def judge(case: Case) -> Evidence:
    """Fails on a name that is undefined now and was not before."""
    return await asyncio.to_thread(_judge, case)


def _judge(case: Case) -> Evidence:
    after = lint_findings(case.after, case.language, case.path)
    if after is None:
        return Evidence(Check.NAMES, Ruling.SKIPPED, f"no name check for {case.language} here")
    before = lint_findings(case.before, case.language, case.path) or ()
    new = new_findings(_undefined(before), _undefined(after))
    if new:
        return Evidence(Check.NAMES, Ruling.FAIL, "; ".join(finding.message for finding in new[:3]), trusted=True)
    return Evidence(Check.NAMES, Ruling.PASS, "names resolve", trusted=True)


def _undefined(findings: tuple[Finding, ...]) -> list[Finding]:
    return [finding for finding in findings if finding.code in UNDEFINED]

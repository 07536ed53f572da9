"""Checks that the linter finds nothing new."""

from __future__ import annotations

import asyncio

from stet_ls.engine.api.evidence import Check, Evidence, Ruling
from stet_ls.engine.judges.case import Case, is_broken, lint_findings
from stet_ls.validators.findings import new_findings
from stet_ls.validators.lint import UNDEFINED


async def judge(case: Case) -> Evidence:
    """Passes without new findings. New ones are shown but refute nothing: style is the user's choice."""
    return await asyncio.to_thread(_judge, case)


def _judge(case: Case) -> Evidence:
    after = lint_findings(case.after, case.language, case.path, case.tools)
    if after is None:
        return Evidence(Check.LINT, Ruling.SKIPPED, f"no linter for {case.language} installed; run `stet doctor`")
    if not after and is_broken(case):
        return Evidence(Check.LINT, Ruling.UNKNOWN, "not linted: the file has syntax errors")
    before = lint_findings(case.before, case.language, case.path, case.tools) or ()
    new = [finding for finding in new_findings(before, after) if finding.code not in UNDEFINED]
    if not new:
        return Evidence(Check.LINT, Ruling.PASS, "0 new lint")
    first = f"{new[0].code} {new[0].message}".strip()
    return Evidence(Check.LINT, Ruling.UNKNOWN, f"{len(new)} new lint, first: {first}")

"""Checks that the document still parses with the candidate in place. Only errors that the baseline lacks count."""

from __future__ import annotations

import asyncio

from stet_ls.engine.api.evidence import Check, Evidence, Ruling
from stet_ls.engine.judges.case import Case, syntax_result
from stet_ls.validators import syntax
from stet_ls.validators.findings import Status


async def judge(case: Case) -> Evidence:
    """Fails on a new syntax error of a tool that may block; otherwise reports what is unknown."""
    return await asyncio.to_thread(_judge, case)


def _judge(case: Case) -> Evidence:
    after = syntax_result(case.after, case.language, case.path, case.tools)
    if after.status is Status.UNKNOWN:
        return Evidence(Check.SYNTAX, Ruling.UNKNOWN, after.reason or "not parsed")
    if after.status is Status.OK:
        return Evidence(Check.SYNTAX, Ruling.PASS, f"syntax ok ({after.source})", trusted=after.authoritative)
    new = syntax.broken_by(syntax_result(case.before, case.language, case.path, case.tools), after)
    if not new:
        return Evidence(Check.SYNTAX, Ruling.PASS, "no new syntax errors (the file had errors before)")
    if not after.may_block:
        return Evidence(Check.SYNTAX, Ruling.UNKNOWN, f"possibly {new[0].message}")
    return Evidence(Check.SYNTAX, Ruling.FAIL, f"{new[0].message} ({after.source})", trusted=True)

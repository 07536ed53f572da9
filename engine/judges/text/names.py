"""Checks that the names used by the candidate exist."""

from __future__ import annotations

import asyncio
from collections import Counter

from stet_ls.engine.api.evidence import Check, Evidence, Ruling
from stet_ls.engine.judges.case import Case, is_broken, lint_findings, undefined_names
from stet_ls.engine.judges.language_table import for_language
from stet_ls.validators import go_undefined_names, structure
from stet_ls.validators.findings import Finding, new_findings


async def judge(case: Case) -> Evidence:
    """Fails on a name that became undefined, and on a unit that is now defined twice.

    After a new `from x import *` the result is unknown.
    """
    return await asyncio.to_thread(_judge, case)


def _judge(case: Case) -> Evidence:
    after = undefined_names(case, case.after)
    if after == () and is_broken(case):
        return Evidence(Check.NAMES, Ruling.UNKNOWN, "names not checked: the file has syntax errors")
    if after is None:
        return Evidence(Check.NAMES, Ruling.SKIPPED, f"name checks do not support {case.language} yet")
    before = undefined_names(case, case.before) or () if after else ()
    if new := new_findings(before, after):
        messages = "; ".join(finding.message for finding in new[:3])
        if any(finding.source == go_undefined_names.SOURCE for finding in before):
            return Evidence(Check.NAMES, Ruling.UNKNOWN, f"perhaps {messages}: files of the package are missing")
        return Evidence(Check.NAMES, Ruling.FAIL, messages, trusted=True)
    found = {finding.code: finding for finding in _new_lint(case)} if for_language(case.language).names_linted else {}
    if "F811" in found and (twice := _defined_twice(case)):
        return Evidence(Check.NAMES, Ruling.FAIL, f"`{twice}` is defined a second time", trusted=True)
    if "F403" in found:
        return Evidence(Check.NAMES, Ruling.UNKNOWN, f"existing names are unknown: {found['F403'].message}")
    return Evidence(Check.NAMES, Ruling.PASS, "names resolve", trusted=True)


def _new_lint(case: Case) -> tuple[Finding, ...]:
    after = lint_findings(case.after, case.language, case.path, case.tools) or ()
    before = lint_findings(case.before, case.language, case.path, case.tools) or ()
    return tuple(new_findings(before, after))


def _defined_twice(case: Case) -> str:
    """A unit that existed before and now has one more definition; "" if there is none."""
    before, after = (
        Counter(unit.qualified for unit in structure.units(text, case.language)) for text in (case.before, case.after)
    )
    return next((name for name, count in after.items() if count > before[name] > 0), "")

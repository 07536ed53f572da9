"""Does a fix change anything? An edit that does what the broken code did, on all inputs, fixes nothing."""

from __future__ import annotations

from stet_ls.engine.api.evidence import Check, Evidence, Ruling
from stet_ls.engine.judges.case import Case, NamedJudge
from stet_ls.engine.judges.differential.judge import judge as compare
from stet_ls.engine.judges.text import comments
from stet_ls.engine.plurals import plural


async def judge(case: Case) -> Evidence:
    """Fails if old and new code behave alike on inputs that execute all of the change.

    For fixes of which no test and no example shows what was wrong: these would decide.
    """
    if (await comments.judge(case)).verdict is Ruling.PASS:
        return Evidence(Check.EFFECT, Ruling.FAIL, f"behaves as before: {comments.SAME}", trusted=True)
    found = await compare(case)
    if found.verdict is Ruling.PASS:
        summary = f"behaves as before on {plural(found.count, 'valid input')}"
        return Evidence(
            Check.EFFECT, Ruling.FAIL, summary, trusted=True, count=found.count, attachments=found.attachments
        )
    if found.verdict is Ruling.FAIL:
        return Evidence(Check.EFFECT, Ruling.PASS, "behaves differently", trusted=True)
    return Evidence(Check.EFFECT, Ruling.SKIPPED, found.detail)


EFFECT = NamedJudge(Check.EFFECT, judge)

"""Checks that the candidate changes something, and fills a stub that it was to fill."""

from __future__ import annotations

import asyncio
from collections import Counter
from difflib import SequenceMatcher

from stet_ls.engine.api.evidence import Check, Evidence, Ruling
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.text import comments
from stet_ls.engine.plurals import plural
from stet_ls.validators import structure
from stet_ls.validators.common_ends import common_ends

_LARGEST = 400_000
"""Bytes of a text that is parsed for this check: more takes seconds."""
_MOST_PAIRS = 1_000_000
"""Pairs of lines that are aligned to count changes: a tenth of a second."""


async def judge(case: Case) -> Evidence:
    """Fails a candidate that changes nothing but white space, or that leaves the stub it should have filled.

    A refactoring without further instructions, and any optimization, has to change more than layout and documentation.
    """
    evidence = await asyncio.to_thread(_judge, case)
    if len(case.after.data) > _LARGEST:
        return evidence
    means_code = case.spec.must_change_code or (case.spec.preserves_behavior and not case.instructed)
    if means_code and evidence.verdict is Ruling.PASS and (await comments.judge(case)).verdict is Ruling.PASS:
        return Evidence(Check.NOOP, Ruling.FAIL, f"{comments.SAME}, or only its layout changed", trusted=True)
    return evidence


def _judge(case: Case) -> Evidence:
    old, new = _shape(case.before.text), _shape(case.after.text)
    if old == new:
        return Evidence(Check.NOOP, Ruling.FAIL, "the reply repeats the code unchanged", trusted=True)
    if case.spec.adds_code and case.unit:
        unit = next((u for u in structure.units(case.after, case.language) if u.qualified == case.unit), None)
        if unit is not None and structure.is_stub(case.after, case.language, unit):
            return Evidence(Check.NOOP, Ruling.FAIL, f"the body of `{case.unit}` is still a stub", trusted=True)
    return Evidence(Check.NOOP, Ruling.PASS, f"{plural(_changed_lines(old, new), 'line')} changed", trusted=True)


def _shape(text: str) -> list[str]:
    """The text without white space at line ends and blank lines."""
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def _changed_lines(before: list[str], after: list[str]) -> int:
    """The differing lines, without blank ones, of the longer side; in very long texts, those that only one side has."""
    head, tail = common_ends(before, after)
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    if len(old) * len(new) > _MOST_PAIRS:
        gone, come = Counter(old) - Counter(new), Counter(new) - Counter(old)
        return max(gone.total(), come.total(), 1)
    changes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return sum(max(end - start, stop - begin) for tag, start, end, begin, stop in changes if tag != "equal")

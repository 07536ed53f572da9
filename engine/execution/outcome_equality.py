"""Equality of two outcomes of one call: same, rounded, different in sharing, or different."""

from __future__ import annotations

import math
import re
from enum import Enum

from stet_ls.engine.execution.harness_run import CallOutcome

_FLOAT = re.compile(r"\x01([-+.\w]+)")
_CLOSE = 1e-9
"""Relative tolerance; a reordered sum differs by less."""


class OutcomeEquality(Enum):
    """How alike two outcomes are. SHARED: equal values, but one object became several, or the other way round."""

    SAME = "same"
    ROUNDED = "rounded"
    SHARED = "shared"
    DIFFERENT = "different"


def compare_outcomes(old: CallOutcome, new: CallOutcome) -> OutcomeEquality:
    """How alike two outcomes are. An error's type counts, its message does not."""
    if old.digest == new.digest:
        return OutcomeEquality.SAME
    if (old.kind, old.error, old.printed) != (new.kind, new.error, new.printed):
        return OutcomeEquality.DIFFERENT
    if new.leaks > old.leaks:
        return OutcomeEquality.DIFFERENT
    one, other = _parts(old), _parts(new)
    rounded = _is_rounded(one, other)
    if one != other and not rounded:
        return OutcomeEquality.DIFFERENT
    if old.aliases != new.aliases:
        return OutcomeEquality.SHARED
    if new.leaks < old.leaks and one == other:  # what was left open is closed now
        return OutcomeEquality.SAME
    return OutcomeEquality.ROUNDED if rounded else OutcomeEquality.DIFFERENT


def _is_rounded(one: str, other: str) -> bool:
    if "\x01" not in one or _FLOAT.sub("", one) != _FLOAT.sub("", other):
        return False
    first, second = _FLOAT.findall(one), _FLOAT.findall(other)
    return len(first) == len(second) and all(map(_close, first, second))


def _close(one: str, other: str) -> bool:
    return one == other or math.isclose(float(one), float(other), rel_tol=_CLOSE, abs_tol=1e-12)


def _parts(outcome: CallOutcome) -> str:
    return "\0".join([*outcome.results, outcome.variables])

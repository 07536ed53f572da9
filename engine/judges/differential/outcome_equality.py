"""Two outcomes of one call: the same, the same but for rounding or for what is shared, or different."""

from __future__ import annotations

import math
import re
from enum import Enum

from stet_ls.engine.execution.harness_run import Outcome

_FLOAT = re.compile(r"\x01([-+.\w]+)")
_CLOSE = 1e-9
"""Relative; the order of additions changes sums by less."""


class Likeness(Enum):
    """How alike two outcomes are. SHARED: equal values, but what was one thing is several, or the other way round."""

    SAME = "same"
    ROUNDED = "rounded"
    SHARED = "shared"
    DIFFERENT = "different"


def likeness(old: Outcome, new: Outcome) -> Likeness:
    """How alike two outcomes are. The words of an error do not count, its type does."""
    if old.digest == new.digest:
        return Likeness.SAME
    if (old.kind, old.error, old.printed) != (new.kind, new.error, new.printed):
        return Likeness.DIFFERENT
    one, other = _parts(old), _parts(new)
    rounded = _is_rounded(one, other)
    if one != other and not rounded:
        return Likeness.DIFFERENT
    if old.shared != new.shared:
        return Likeness.SHARED
    return Likeness.ROUNDED if rounded else Likeness.DIFFERENT


def _is_rounded(one: str, other: str) -> bool:
    if "\x01" not in one or _FLOAT.sub("", one) != _FLOAT.sub("", other):
        return False
    first, second = _FLOAT.findall(one), _FLOAT.findall(other)
    return len(first) == len(second) and all(map(_close, first, second))


def _close(one: str, other: str) -> bool:
    return one == other or math.isclose(float(one), float(other), rel_tol=_CLOSE, abs_tol=1e-12)


def _parts(outcome: Outcome) -> str:
    return "\0".join([*outcome.results, outcome.variables])

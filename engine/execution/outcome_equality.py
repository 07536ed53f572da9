"""Equality of two outcomes of one call: same, rounded, different in sharing, or different."""

from __future__ import annotations

import math
import re
from enum import Enum

from stet_ls.engine.execution.harness_run import CallOutcome

_NUMBER = re.compile(r"\x01([-+.\w]+)|(?<![\w.\"'])-?\d{8,}(?![\w.\"'])")
"""A float, or a whole number so large that JavaScript's are not marked as rounded."""
_QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_NAMED_TUPLE = re.compile(_QUOTED + r"|(?<![\w.])(?P<head>[A-Za-z_][\w.]*)\(\(")
_BRACKETS = re.compile(_QUOTED + r"|[()]")
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
    is_named = one != other and one == (other := _as_plain_tuples(one, other))
    rounded = _is_rounded(one, other)
    if one != other and not rounded:
        return OutcomeEquality.DIFFERENT
    if old.aliases != new.aliases:
        return OutcomeEquality.SHARED
    if is_named or (new.leaks < old.leaks and one == other):  # what was left open is closed now
        return OutcomeEquality.SAME
    return OutcomeEquality.ROUNDED if rounded else OutcomeEquality.DIFFERENT


def _as_plain_tuples(one: str, other: str) -> str:
    """The new results with named tuples as tuples, where the old code had none: they are equal, and do no less."""
    at = 0
    while found := _NAMED_TUPLE.search(other, at):
        at = found.end()
        if not found["head"] or found[0] in one:
            continue
        end = _closing(other, found.end() - 1)
        if other[end + 1 : end + 2] == ")":
            other = other[: found.start()] + other[found.end() - 1 : end + 1] + other[end + 2 :]
            at = found.start()
    return other


def _closing(text: str, at: int) -> int:
    """Where the bracket at a place is closed; brackets in quotes do not count."""
    depth = 0
    for part in _BRACKETS.finditer(text, at):
        depth += {"(": 1, ")": -1}.get(part[0], 0)
        if depth == 0:
            return part.start()
    return len(text)


def _is_rounded(one: str, other: str) -> bool:
    if "\x01" not in one + other or _NUMBER.sub("", one) != _NUMBER.sub("", other):
        return False
    first, second = list(_NUMBER.finditer(one)), list(_NUMBER.finditer(other))
    return len(first) == len(second) and all(map(_are_close, first, second))


def _are_close(one: re.Match[str], other: re.Match[str]) -> bool:
    """Whether two numbers are equal but for rounding. Two whole ones are equal, or they are not."""
    if one[1] and other[1]:
        return _close(one[1], other[1])
    if not one[1] and not other[1]:
        return one[0] == other[0]
    rounded, whole = (one[1], other[0]) if one[1] else (other[1], one[0])
    return not float(rounded).is_integer() and _close(rounded, whole)


def _close(one: str, other: str) -> bool:
    return one == other or math.isclose(float(one), float(other), rel_tol=_CLOSE, abs_tol=1e-12)


def _parts(outcome: CallOutcome) -> str:
    return "\0".join([*outcome.results, outcome.variables])

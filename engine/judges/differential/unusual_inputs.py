"""Inputs that the code is probably not meant for: kinds that are rare among those it accepts, NaN, infinities.

A text may be reversed by a loop or by a slice, which differ on a list of letters. If old and new agree on enough inputs
of the usual kinds, a difference only on unusual ones is a side note.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stet_ls.engine.execution.harness_run import Call
from stet_ls.engine.execution.inputs.rows import CAPTURED, UNSURE
from stet_ls.engine.judges.differential.input_domain import Kind, kinds_of

ENOUGH = 20
"""The number of usual inputs that have to agree."""
_USUAL = 0.3
"""The least share that makes a kind usual for a parameter."""
_NOT_FINITE = re.compile(r"float\('-?(nan|inf)'\)|\b(NaN|Infinity)\b")
_SPEAKS_OF_KINDS = re.compile(r"\b(isinstance|type|typeof|instanceof|hasattr|callable)\b")
_SPEAKS_OF_FINITE = re.compile(r"(?i)\b(nan|inf|isnan|isinf|isfinite|infinity)\b|\b(\w+) (?:!==?|===?) \2\b")
"""Also by a value that is compared with itself, as only NaN differs from itself."""
_SINGLE = frozenset({"int", "float", "bool", "number", "boolean", "complex"})
"""Kinds of numbers: each may well be meant where another is usual."""
_LITERAL = _SINGLE | {"str", "bytes", "NoneType", "List", "Set", "Dict", "Tuple", "Array", "Object"}
"""Kinds of literals. The contents of a value that a call makes are unknown."""


@dataclass(frozen=True, slots=True)
class Usual:
    """The usual kinds of each parameter, among the inputs that the code of `text` accepts."""

    text: str
    kinds: Mapping[str, frozenset[str]]

    def excuse(self, call: Call) -> str:
        """Why a call is probably unintended, as a part of a sentence; "" if it may be intended."""
        if call.origin == CAPTURED:
            return ""
        if _NOT_FINITE.search(call.setup) and not _SPEAKS_OF_FINITE.search(self.text):
            return "NaN and infinities"
        if call.origin not in UNSURE or _SPEAKS_OF_KINDS.search(self.text):
            return ""
        for name, kind in kinds_of(call).items():
            usual, own = self.kinds.get(name, frozenset()), _top(kind)
            if not usual or own in usual or (own == "NoneType" and "None" in self.text):
                continue
            if own in _LITERAL and usual <= _LITERAL and not (own in _SINGLE and usual & _SINGLE):
                return "inputs of unusual kinds"
        return ""


def usual(text: str, taken: Sequence[Call]) -> Usual:
    """The usual kinds among calls that a code accepts."""
    counts: dict[str, Counter[str]] = {}
    for call in taken:
        for name, kind in kinds_of(call).items():
            counts.setdefault(name, Counter())[_top(kind)] += 1
    kinds = {
        name: frozenset(kind for kind, n in each.items() if n >= _USUAL * each.total()) for name, each in counts.items()
    }
    return Usual(text, kinds)


def excused(text: str, agreed: Sequence[Call], differing: Mapping[Call, bool]) -> dict[Call, str]:
    """The differing calls that are probably unintended, with the reason; `differing` says which ones are telling.

    Empty if too few usual inputs agree, or if a usual input differs tellingly, too.
    """
    known = usual(text, (*agreed, *(call for call, tells in differing.items() if tells)))
    reasons = {call: reason for call in differing if (reason := known.excuse(call))}
    if any(tells and call not in reasons for call, tells in differing.items()):
        return {}
    return reasons if sum(not known.excuse(call) for call in agreed) >= ENOUGH else {}


_GROWN = {"dict.fromkeys(": "Dict", "{n: n + 1 ": "Dict", "([": "List", "((": "Tuple", "('": "str"}
"""How an enlarged argument begins, by its kind."""


def _top(kind: Kind) -> str:
    if isinstance(kind, str):
        return next((name for begin, name in _GROWN.items() if kind.startswith(begin)), kind)
    return kind[0].partition(" of ")[0]

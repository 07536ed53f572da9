"""Inputs that the code is probably not meant for: kinds that are rare among those it accepts, NaN, infinities.

A text may be reversed by a loop or by a slice, which differ on a list of letters. If old and new agree on enough inputs
of the usual kinds, a difference only on unusual ones is a side note; if they agree on few, it is a question.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from stet_ls.engine.execution.harness_run import Call
from stet_ls.engine.execution.inputs.mutations import literal
from stet_ls.engine.execution.inputs.rows import CAPTURED, UNSURE
from stet_ls.engine.judges.differential.excuses.input_domain import ArgumentKind, argument_kinds, kind_before_growth

ENOUGH, ENOUGH_MEANT = 20, 5
"""The number of usual inputs that have to agree; fewer, if names or words say which kinds are meant."""
_USUAL, _MEANT = 0.3, 0.15
"""The least share that makes a kind usual for a parameter; less, if its name or the docstring suggests it."""
NOT_FINITE, UNUSUAL = "NaN and infinities", "inputs of unusual kinds"
_NOT_FINITE = re.compile(r"float\('-?(nan|inf)'\)|\b(NaN|Infinity)\b")
_SPEAKS_OF_KINDS = re.compile(r"\b(isinstance|type|typeof|instanceof|hasattr|callable)\b")
_SPEAKS_OF_FINITE = re.compile(r"(?i)\b(nan|inf|isnan|isinf|isfinite|infinity)\b|\b(\w+) (?:!==?|===?) \2\b")
"""Also by a value that is compared with itself, as only NaN differs from itself."""
_SINGLE = frozenset({"int", "float", "bool", "number", "boolean", "complex"})
"""Kinds of numbers: each may well be meant where another is usual."""
_LITERAL = _SINGLE | {"str", "bytes", "NoneType", "List", "Set", "Dict", "Tuple", "Array", "Object"}
"""Kinds of literals. The contents of a value that a call makes are unknown."""
_KNOWN = _LITERAL | {f"__import__{each}" for each in (
    ".date", ".datetime", ".timedelta", ".Decimal", ".Fraction", ".Path",
)}  # fmt: skip


@dataclass(frozen=True, slots=True)
class UsualKinds:
    """The usual kinds of each parameter, among the inputs that the code of `text` accepts.

    `meant` are those parameters whose kinds are the ones that their names or the docstring suggest. "List of str" in it
    says what the items are.
    """

    text: str
    kinds: Mapping[str, frozenset[str]]
    meant: Mapping[str, frozenset[str]]

    def excuse(self, call: Call) -> str:
        """Why a call is probably unintended, as a part of a sentence; "" if it may be intended."""
        if call.origin == CAPTURED:
            return ""
        if _NOT_FINITE.search(call.setup) and not _SPEAKS_OF_FINITE.search(self.text):
            return NOT_FINITE
        if call.origin not in UNSURE or _SPEAKS_OF_KINDS.search(self.text):
            return ""
        for name, kind in argument_kinds(call).items():
            if self._is_unused(name) or self._is_written(call.bindings().get(name, "")):
                continue
            usual, own = self.kinds.get(name, frozenset()), _top(kind)
            if self._has_unusual_items(name, kind):
                return UNUSUAL
            if not usual or own in usual or (own == "NoneType" and "None" in self.text):
                continue
            if own in _LITERAL and usual <= _KNOWN and not (own in _SINGLE and self._are_alike(name, own)):
                return UNUSUAL
        return ""

    def _is_unused(self, name: str) -> bool:
        """Whether the code never reads a parameter: then no kind of it matters."""
        return len(re.findall(rf"\b{re.escape(name)}\b", self.text)) == 1

    def _is_written(self, argument: str) -> bool:
        """Whether an argument is a text that the code writes, or a list of such texts: whatever else it takes, these
        are what it asks for.
        """
        value = literal(argument)
        words = [value] if isinstance(value, str) else value if isinstance(value, list) else []
        return bool(words) and all(
            isinstance(each, str) and each and any(f"{sign}{each}{sign}" in self.text for sign in "\"'")
            for each in words
        )

    def is_meant(self, call: Call) -> bool:
        """Whether an unusual kind of it is not what the parameter's name or the docstring suggests."""
        kinds = ((name, kind) for name, kind in argument_kinds(call).items() if name in self.meant)
        return any(
            (_top(kind) in _LITERAL and _top(kind) not in self.kinds[name]) or self._has_unusual_items(name, kind)
            for name, kind in kinds
        )

    def is_not_number(self, call: Call) -> bool:
        """Whether an argument is a container where all usual ones are numbers."""
        return any(
            _top(kind) in _LITERAL - _SINGLE - {"NoneType"} and bool(usual) and usual <= _SINGLE
            for name, kind in argument_kinds(call).items() if (usual := self.kinds.get(name, frozenset()))
        )  # fmt: skip

    def _has_unusual_items(self, name: str, kind: ArgumentKind) -> bool:
        wanted = {each.partition(" of ")[2] for each in self.meant.get(name, ())} - {""}
        kind = kind_before_growth(kind)
        if isinstance(kind, str) or kind[0] != "List" or not wanted:
            return False
        items: frozenset[ArgumentKind] = frozenset().union(*kind[1:])
        return not wanted.issuperset(map(_top, items))

    def _are_alike(self, name: str, own: str) -> bool:
        """Whether a kind of number is as good as the usual ones; not if only whole numbers or truths are meant."""
        usual = self.kinds[name]
        is_other = (own == "float" and "float" not in usual) or (own != "bool" and usual & _SINGLE == {"bool"})
        return bool(usual & _SINGLE) and not (name in self.meant and is_other)


@dataclass(frozen=True, slots=True)
class ExcusedCalls:
    """The differing calls that are probably unintended, with the reason. `uncertain`: too few usual ones agree.

    `refusable` are those that the new code may refuse without a question.
    """

    reasons: Mapping[Call, str]
    uncertain: bool = False
    refusable: frozenset[Call] = frozenset()


def usual_kinds(text: str, taken: Sequence[Call], meant: Mapping[str, frozenset[str]]) -> UsualKinds:
    """The usual kinds among calls that a code accepts; the `meant` ones of a parameter if it accepts enough of them."""
    counts: dict[str, Counter[str]] = {}
    for call in taken:
        for name, kind in argument_kinds(call).items():
            counts.setdefault(name, Counter())[_top(kind)] += 1
    kinds = {
        name: frozenset(kind for kind, n in each.items() if n >= _USUAL * each.total()) for name, each in counts.items()
    }
    named = {
        name: tops for name, tops in meant.items()
        if sum(counts.get(name, Counter())[top] for top in tops) > _MEANT * counts.get(name, Counter()).total()
    }  # fmt: skip
    # A list by its name may well be a dictionary that is used like one; a text is no list.
    named = {name: tops | (kinds[name] & {"Dict"} if "List" in tops else set()) for name, tops in named.items()}
    return UsualKinds(text, {**kinds, **{name: frozenset(tops & _LITERAL) for name, tops in named.items()}}, named)


def excuse_calls(
    text: str, agreed: Sequence[Call], differing: Mapping[Call, bool], meant: Mapping[str, frozenset[str]]
) -> ExcusedCalls:
    """Judges the differing calls; `differing` says which ones are conclusive.

    None are excused if a usual input differs conclusively, too.
    """
    known = usual_kinds(text, (*agreed, *(call for call, conclusive in differing.items() if conclusive)), meant)
    reasons = {call: reason for call in differing if (reason := known.excuse(call))}
    if any(conclusive and call not in reasons for call, conclusive in differing.items()):
        return ExcusedCalls({})
    count = sum(not known.excuse(call) for call in agreed)
    refusable = frozenset(call for call in reasons if known.is_meant(call) or known.is_not_number(call))
    enough = ENOUGH_MEANT if len(refusable) == len(reasons) else ENOUGH
    return ExcusedCalls(reasons, count < enough, refusable)


def calls_of_foreign_kind(text: str, agreed: Sequence[Call], differing: Collection[Call]) -> frozenset[Call]:
    """The differing calls with a guessed kind of argument on which nothing agrees; on the others enough calls do."""
    if _SPEAKS_OF_KINDS.search(text):
        return frozenset()
    others: dict[str, Counter[str]] = {}
    for call in agreed:
        for name, kind in argument_kinds(call).items():
            others.setdefault(name, Counter())[_top(kind)] += 1
    return frozenset(
        call for call in differing if call.origin in UNSURE and any(
            _top(kind) in _LITERAL and name in others and not others[name][_top(kind)]
            and others[name].total() >= ENOUGH for name, kind in argument_kinds(call).items()
        )
    )  # fmt: skip


def is_container(call: Call, agreed: Sequence[Call], meant: Mapping[str, frozenset[str]]) -> bool:
    """Whether an argument is a list or the like where no agreeing call has one: a text, say, where each letter counts.

    A refusal of a number or a text, where both are as likely, or of what a name suggests, is for a person to see.
    """
    known = [argument_kinds(each) for each in agreed]
    return any(
        _top(kind) in _LITERAL - _SINGLE - {"str", "bytes", "NoneType"}
        and _top(kind) not in meant.get(name, ())
        and all(_top(each.get(name, "")) != _top(kind) for each in known)
        for name, kind in argument_kinds(call).items()
    )  # fmt: skip


def is_named_kind(call: Call, meant: Mapping[str, frozenset[str]], known: Sequence[Mapping[str, ArgumentKind]]) -> bool:
    """Whether an argument has a kind that a name or the docstring suggests, and that none of the `known` ones have."""
    return any(
        _top(kind) in meant.get(name, ()) and all(_top(each.get(name, "")) != _top(kind) for each in known)
        for name, kind in argument_kinds(call).items()
    )


_GROWN = {
    "dict.fromkeys(": "Dict",
    "{n: n + 1 ": "Dict",
    "([": "List",
    "((": "Tuple",
    "('": "str",
    "[f'": "List",
    "[{'": "List",
    "[(": "List",
    "list(": "List",
}
"""How an enlarged argument begins, by its kind."""


def _top(kind: ArgumentKind) -> str:
    if isinstance(kind, str):
        return next((name for begin, name in _GROWN.items() if kind.startswith(begin)), kind)
    return kind[0].partition(" of ")[0]

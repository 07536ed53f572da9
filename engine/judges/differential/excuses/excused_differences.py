"""Differences that say nothing about the new code, whatever the kinds of the arguments are: one row a reason."""

from __future__ import annotations

import builtins
import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace

from stet_ls.engine.execution.harness_run import CallOutcome
from stet_ls.engine.execution.inputs.rows import EDGE_CASE, UNSURE
from stet_ls.engine.judges.differential.difference import NEAR, WRITTEN, Difference
from stet_ls.engine.judges.differential.excuses.input_domain import argument_kinds
from stet_ls.engine.judges.differential.excuses.taken_for_granted import takes_for_granted

_TOO_DEEP = "RecursionError"
_WRONG_KIND = {"TypeError", "AttributeError"}
_OF_LIBRARY = {"StatisticsError", "JSONDecodeError", "error", "Error", "InvalidOperation", "BadZipFile", "ParseError"}
"""Errors of the standard library that mean the same as built-in ones."""
_UNFINISHED = {"TypeError", "AttributeError", "KeyError", "IndexError"}
"""Errors that end a call in the middle, if the input is of a wrong kind: what it had changed by then does not count."""
_OF_PARTS = {"IndexError", "ValueError"}
_SINGLE = {"str", "int", "float", "bool", "NoneType"}
_UNREAD = re.compile(r"invalid literal for int|could not convert string to float|could not parse|Invalid isoformat")
_FORM = re.compile(r"(?i)\b(?:as|like|form|format|e\.g\.) (?:[\"'`][^\"'`\n]*\d|\d+[.:/-]\d)")
_ITERATED = re.compile(r"raises (\w+)\]")
_OUT_OF_RANGE = ("Numerical result out of range", "int too large to convert to float", "File name too long")
_FLOAT = re.compile(r"(?<![\w.])\d+\.\d")
_WHOLE_FLOAT = re.compile(r"\x01?(?<![\w.])(-?\d+)\.0(?!\d)")
_NARROWER, _OLD_FAILS = "more specific errors", "inputs of kinds that the old code fails on"
OTHER_FAILURE = "another error"


@dataclass(frozen=True, slots=True)
class ComparedCode:
    """What both versions of a unit say themselves.

    `text` is the old code, "" if every input counts. `promised` are the errors that it documents or raises itself; None
    if unknown: then every error counts. `handled` are the errors that the new code names: it decides on purpose what
    becomes of them.
    """

    unit: str
    text: str = ""
    promised: Collection[str] | None = None
    handled: Collection[str] = ()

    @property
    def named(self) -> frozenset[str]:
        """The errors that either version names."""
        return frozenset((*(self.promised or ()), *self.handled))


@dataclass(frozen=True, slots=True)
class Excuse:
    """A reason to pass over a difference.

    `shown` names the inputs in the evidence, "" if it does not. `needs_agreement`: only if enough other inputs
    agree, and not every input counts.
    """

    name: str
    fits: Callable[[Difference, ComparedCode], bool]
    shown: str = _OLD_FAILS
    needs_agreement: bool = True


@dataclass(frozen=True, slots=True)
class Excused:
    """The differences that count, and the reasons (`Excuse.name`, `Excuse.shown`) of those that do not."""

    differences: tuple[Difference, ...]
    names: frozenset[str]
    shown: frozenset[str]


def excuse_differences(differences: Iterable[Difference], code: ComparedCode, *, is_enough: bool) -> Excused:
    """The differences without those that a row of EXCUSES fits; `is_enough`: enough other inputs agree."""
    counting, excuses = [], set[Excuse]()
    usable = [row for row in EXCUSES if not row.needs_agreement or (is_enough and code.text)]
    for each in differences:
        marked = replace(each, fixes=_is_fixed(each, code))
        fitting = {row for row in usable if row.fits(marked, code)}
        excuses |= fitting
        if not fitting:
            counting.append(marked)
    shown = frozenset(row.shown for row in excuses) - {""}
    return Excused(tuple(counting), frozenset(row.name for row in excuses), shown)


def _is_fixed(diff: Difference, code: ComparedCode) -> bool:
    """Whether the old code failed by accident, and the new code does not: an operation refused its operands, an index
    or a divisor was not there, or the stack was too small for a generator that calls itself.
    """
    if code.promised is None or diff.call.origin in WRITTEN or diff.new.kind != "ok":
        return False
    old, new = map(_ends, (diff.old, diff.new))
    is_too_deep = _TOO_DEEP in old and _TOO_DEEP not in {*new, *code.named}
    return diff.old.fails_by_accident(code.named) or is_too_deep


def is_refusal(diff: Difference, _code: ComparedCode) -> bool:
    """Whether both refuse a guessed kind with different errors (TypeError, AttributeError, an error and a key that
    cannot be one), or the old code refused an unusual one.
    """
    if diff.call.origin == EDGE_CASE and diff.old.error in _WRONG_KIND:
        return True
    is_no_key = diff.new.error == "TypeError" and diff.new.message.startswith("unhashable type")
    if diff.call.origin in UNSURE and diff.old.kind == "raised" and is_no_key:
        return True
    return diff.call.origin in UNSURE and {diff.old.error, diff.new.error} == _WRONG_KIND


def is_other_failure(diff: Difference, code: ComparedCode) -> bool:
    """Whether both raise different built-in errors, and the old code promises none of them; an error of the standard
    library is as good, unless the new code names it, which may be a class of its own.

    The code failed on the input by accident, and still fails.
    """
    if code.promised is None or not diff.old.kind == diff.new.kind == "raised" or diff.old.error in code.promised:
        return False
    same = replace(diff.new, digest="", error=diff.old.error, message="")
    if {diff.old.error, diff.new.error} <= _UNFINISHED:
        same = replace(same, variables=diff.old.variables)
    alike = same == replace(diff.old, digest="", message="", order=same.order, aliases=same.aliases)
    return alike and all(
        hasattr(builtins, each.error) or (each.error in _OF_LIBRARY and each.error not in code.handled)
        for each in (diff.old, diff.new)
    )


def is_other_end(diff: Difference, code: ComparedCode) -> bool:
    """Whether iterators end with different built-in errors, of which the old code raises none on purpose."""
    old, new = map(_ends, (diff.old, diff.new))
    if code.promised is None or not old or len(old) != len(new) or {*old} & {*code.promised}:
        return False
    plain = [
        replace(each, digest="", results=(_ITERATED.sub("", " ".join(each.results)),)) for each in (diff.old, diff.new)
    ]
    return plain[0] == plain[1] and all(hasattr(builtins, each) for each in (*old, *new))


def is_narrower(diff: Difference, _code: ComparedCode) -> bool:
    """Whether the new code raises a subclass of the old error: a handler of the old one still catches it."""
    if diff.old.error not in diff.new.bases or diff.new.is_wrong_kind:
        return False
    same = replace(diff.new, digest="", error=diff.old.error, message="")
    return same == replace(diff.old, digest="", message="", order=same.order, aliases=same.aliases)


def is_float_for_whole(diff: Difference, _code: ComparedCode) -> bool:
    """Whether both agree on a guessed float but for its kind: 5.0 where the other gives 5."""
    if diff.call.origin not in UNSURE or not _FLOAT.search(diff.call.setup):
        return False
    old, new = (replace(each, digest="", order="", aliases="", results=tuple(map(_whole, each.results)),
                        variables=_whole(each.variables)) for each in (diff.old, diff.new))  # fmt: skip
    return old == new


def is_out_of_range(diff: Difference, _code: ComparedCode) -> bool:
    """Whether the new code fails on numbers that no float holds, as `2.0 ** 5000`, or on names that no file has."""
    said = "\0".join((diff.new.message, *diff.new.results))
    return diff.call.origin not in WRITTEN and any(words in said for words in _OUT_OF_RANGE)


def is_incomplete(diff: Difference, code: ComparedCode) -> bool:
    """Whether only the new code misses a key that the old code takes for granted: the record is none."""
    if diff.call.origin in WRITTEN or diff.old.kind != "ok" or diff.new.error != "KeyError":
        return False
    if "__files__(" in diff.call.setup:  # both read the record from the same file
        return False
    return takes_for_granted(code.text, code.unit, diff.new.message)


def is_outside(diff: Difference, code: ComparedCode) -> bool:
    """Whether the input is none: a guessed one that the old code's operations refuse, what is guessed to be in a file
    and the new code refuses, and a text of another form than the documentation's that no number can be read from now.
    """
    if diff.call.origin in WRITTEN:
        return False
    if diff.takes_less and "__files__(" in diff.call.setup:
        return True
    if diff.call.origin in UNSURE and diff.old.error in _WRONG_KIND - code.named:
        return True
    is_unread = diff.new.error == "ValueError" and bool(_UNREAD.match(diff.new.message))
    return diff.old.kind == "ok" and is_unread and "ValueError" not in code.named and bool(_FORM.search(code.text))


def is_malformed(diff: Difference, code: ComparedCode) -> bool:
    """Whether the old code failed on what it took out of a text, as on the second part of one that has no second.

    An index or a conversion of the argument itself is the caller's business, not an accident.
    """
    kinds = argument_kinds(diff.call)
    return (
        diff.old.error in _OF_PARTS
        and "str" in kinds.values()
        and all(kind in _SINGLE for kind in kinds.values())
        and not any(
            re.search(rf"\b(?:{re.escape(name)}\[|(?:int|float)\({re.escape(name)}\))", code.text) for name in kinds
        )
    )


EXCUSES = (
    Excuse("both refuse", is_refusal, shown="", needs_agreement=False),
    Excuse(OTHER_FAILURE, is_other_failure, shown="", needs_agreement=False),
    Excuse("another error at the end", is_other_end, shown="", needs_agreement=False),
    Excuse("a more specific error", is_narrower, shown=_NARROWER, needs_agreement=False),
    Excuse("fixed", lambda diff, _: diff.fixes and diff.old.is_wrong_kind, needs_agreement=False),
    Excuse("fixed, on a guess", lambda diff, _: diff.fixes and diff.call.origin in {*UNSURE, NEAR}),
    Excuse("fixed, in a part of a text", lambda diff, code:
           diff.fixes and "Exception" not in code.handled and is_malformed(diff, code)),
    Excuse("another number of values", lambda diff, _: diff.is_refused_shape),
    Excuse("a float for a whole number", is_float_for_whole),
    Excuse("out of range", is_out_of_range),
    Excuse("a record that is none", is_incomplete),
    Excuse("no input", is_outside),
)  # fmt: skip


def _ends(outcome: CallOutcome) -> list[str]:
    """The errors with which iterators in the results end."""
    return _ITERATED.findall(" ".join(outcome.results))


def _whole(text: str) -> str:
    """The text with 5 for each 5.0."""
    return _WHOLE_FLOAT.sub(r"\1", text)

"""A call on which two texts differ, and what the difference shows: a counter-example, or that the input is none."""

from __future__ import annotations

import builtins
import itertools
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from stet_ls.engine.execution.harness_run import Call, CallOutcome
from stet_ls.engine.execution.inputs.rows import CAPTURED, DOUBLE, EDGE_CASE, SUGGESTED, UNSURE
from stet_ls.engine.judges.differential.input_domain import argument_kinds
from stet_ls.engine.judges.differential.taken_for_granted import takes_for_granted

_SHOWN = 300
_AROUND = 30
"""Characters shown on both sides of what differs in long texts."""
_TOO_DEEP = "RecursionError"
_WRONG_KIND = {"TypeError", "AttributeError"}
_OF_LIBRARY = {"StatisticsError", "JSONDecodeError", "error", "Error", "InvalidOperation", "BadZipFile", "ParseError"}
"""Errors of the standard library that mean the same as built-in ones."""
_UNFINISHED = {"TypeError", "AttributeError", "KeyError", "IndexError"}
"""Errors that end a call in the middle, if the input is of a wrong kind: what it had changed by then does not count."""
_OF_PARTS = {"IndexError", "ValueError"}
_SINGLE = {"str", "int", "float", "bool", "NoneType"}
_WHOSE = {CAPTURED: " (from a test)", SUGGESTED: " (suggested by the model)"}
NEAR = "near an example"
WRITTEN = {CAPTURED, "example"}
"""Origins of inputs that someone wrote down."""
_UNREAD = re.compile(r"invalid literal for int|could not convert string to float|could not parse|Invalid isoformat")
_FORM = re.compile(r"(?i)\b(?:as|like|form|format|e\.g\.) (?:[\"'`][^\"'`\n]*\d|\d+[.:/-]\d)")
_ITERATED = re.compile(r"raises (\w+)\]")
_OUT_OF_RANGE = ("Numerical result out of range", "int too large to convert to float", "File name too long")
_FLOAT = re.compile(r"(?<![\w.])\d+\.\d")
_WHOLE_FLOAT = re.compile(r"\x01?(?<![\w.])(-?\d+)\.0(?!\d)")
_CALLABLE = re.compile(r"<function [^<>]*<locals>\.[^<>]*>|<partial>|<pattern .*? \d+>", re.DOTALL)
"""A function that a call made, or a regular expression."""
_SENSELESS = re.compile(r"\bNaN\b")
"""JavaScript's result for an operand of a wrong kind, where other languages raise an error."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A call on which two texts differ, and the outcome of each.

    `in_domain`: the new text accepts the call's kinds in another call. `is_unusual`: its kinds are, and too few usual
    calls agree to tell. `fixes`: the old code failed by accident. `is_direct`: no public caller of the unit brings it
    about. `is_let_through`: the old code handles the new one's error by name.
    """

    call: Call
    old: CallOutcome
    new: CallOutcome
    in_domain: bool = False
    is_unusual: bool = False
    fixes: bool = False
    unpacks: bool = False
    is_direct: bool = False
    is_let_through: bool = False

    @property
    def is_conclusive(self) -> bool:
        """False if the input is probably outside the old code's domain: a TypeError may become another error, and a
        guessed kind may be refused everywhere now, or produced nothing sensible before, or the answers were made up.
        """
        if self.fixes or self.is_direct or self.is_refused_shape or self.is_other_function:
            return False
        if self.call.origin not in UNSURE:
            return self.old.valid and not self.old.is_wrong_kind
        if self.call.origin == DOUBLE or self.is_unusual:
            return False
        made_sense = not any(_SENSELESS.search(each) for each in self.old.results)
        return self.old.valid and made_sense and (self.in_domain or not self.new.is_wrong_kind)

    @property
    def takes_less(self) -> bool:
        """True if the new code refuses a kind that the old code accepted."""
        return self.old.kind == "ok" and self.new.is_wrong_kind

    @property
    def is_too_deep(self) -> bool:
        """True if only the new code exhausts the stack: a matter of size, whatever the kinds are."""
        return self.old.kind == "ok" and self.new.error == "RecursionError"

    @property
    def is_refusal(self) -> bool:
        """True if both refuse a guessed kind with different errors (TypeError, AttributeError, an error and a key that
        cannot be one), or the old code refused an unusual one.
        """
        if self.call.origin == EDGE_CASE and self.old.error in _WRONG_KIND:
            return True
        is_no_key = self.new.error == "TypeError" and self.new.message.startswith("unhashable type")
        if self.call.origin in UNSURE and self.old.kind == "raised" and is_no_key:
            return True
        return self.call.origin in UNSURE and {self.old.error, self.new.error} == _WRONG_KIND

    @property
    def is_narrower(self) -> bool:
        """True if the new code raises a subclass of the old error: a handler of the old one still catches it."""
        if self.old.error not in self.new.bases or self.new.is_wrong_kind:
            return False
        same = replace(self.new, digest="", error=self.old.error, message="")
        return same == replace(self.old, digest="", message="", order=same.order, aliases=same.aliases)

    @property
    def is_other_function(self) -> bool:
        """True if the results differ only in which functions or patterns they are or hold: what these do is unknown."""
        held = ("\0".join((*each.results, each.variables)) for each in (self.old, self.new))
        if not (self.old.opaque and self.new.opaque) and not all("<pattern " in each for each in held):
            return False
        one, other = (_CALLABLE.sub("", "\0".join((*each.results, each.variables))) for each in (self.old, self.new))
        return one == other and (self.old.kind, self.old.printed) == (self.new.kind, self.new.printed)

    @property
    def is_refused_guess(self) -> bool:
        """True if the new code fails on an input of a guessed kind that the old code accepted."""
        is_blamed = not self.is_let_through and not self.new.fails_on_made
        return is_blamed and self.call.origin in UNSURE and self.old.kind == "ok" and self.new.kind == "raised"

    @property
    def fails_on_guess(self) -> bool:
        """True if the new code fails on a guessed kind, be it as wrong or where the old code did not fail."""
        return self.is_refused_guess or (self.call.origin in UNSURE and self.new.is_wrong_kind)

    @property
    def is_refused_shape(self) -> bool:
        """True if the new code fails to unpack a guessed value: the old one subscripted it, and took any length."""
        is_guess = self.is_refused_guess or (self.call.origin == NEAR and self.takes_less)
        return is_guess and not self.unpacks and self.new.error == "ValueError" and self.new.is_wrong_kind

    @property
    def is_out_of_range(self) -> bool:
        """True if the new code fails on numbers that no float holds, as `2.0 ** 5000`, or on names that no file has."""
        said = "\0".join((self.new.message, *self.new.results))
        is_out = any(words in said for words in _OUT_OF_RANGE)
        return self.call.origin not in WRITTEN and is_out

    @property
    def is_float_for_whole(self) -> bool:
        """True if both agree on a guessed float but for its kind: 5.0 where the other gives 5."""
        if self.call.origin not in UNSURE or not _FLOAT.search(self.call.setup):
            return False
        old, new = (replace(each, digest="", order="", aliases="", results=tuple(map(_whole, each.results)),
                            variables=_whole(each.variables)) for each in (self.old, self.new))  # fmt: skip
        return old == new

    def is_outside(self, text: str, named: Collection[str]) -> bool:
        """True if the input shows nothing of a code with this text, which names some errors.

        A guessed one that its operations refuse, what is guessed to be in a file and the new code refuses, and a text
        of another form than the documentation's that no number can be read from now.
        """
        if self.call.origin in WRITTEN:
            return False
        if self.takes_less and "__files__(" in self.call.setup:
            return True
        if self.call.origin in UNSURE and self.old.error in _WRONG_KIND - {*named}:
            return True
        is_unread = self.new.error == "ValueError" and bool(_UNREAD.match(self.new.message))
        return self.old.kind == "ok" and is_unread and "ValueError" not in named and bool(_FORM.search(text))

    def is_incomplete(self, text: str, unit: str) -> bool:
        """True if only the new code misses a key that the old code takes for granted: the record is none."""
        if self.call.origin in WRITTEN or self.old.kind != "ok" or self.new.error != "KeyError":
            return False
        if "__files__(" in self.call.setup:  # both read the record from the same file
            return False
        return takes_for_granted(text, unit, self.new.message)

    def is_fixed(self, promised: Collection[str]) -> bool:
        """True if the old code failed by accident, and the new code does not: an operation refused its operands, an
        index or a divisor was not there, or the stack was too small for a generator that calls itself.
        """
        ends = [_ITERATED.findall(" ".join(each.results)) for each in (self.old, self.new)]
        is_too_deep = _TOO_DEEP in ends[0] and _TOO_DEEP not in {*ends[1], *promised}
        return (self.old.fails_by_accident(promised) or is_too_deep) and self.new.kind == "ok"

    def is_malformed(self, text: str) -> bool:
        """True if the old code failed on what it took out of a text, as on the second part of one that has no second.

        An index or a conversion of the argument itself is the caller's business, not an accident.
        """
        kinds = argument_kinds(self.call)
        return (
            self.old.error in _OF_PARTS
            and "str" in kinds.values()
            and all(kind in _SINGLE for kind in kinds.values())
            and not any(
                re.search(rf"\b(?:{re.escape(name)}\[|(?:int|float)\({re.escape(name)}\))", text) for name in kinds
            )
        )

    def is_other_failure(self, promised: Collection[str], handled: Collection[str] = ()) -> bool:
        """True if both raise different built-in errors, and the old code raises none of the `promised`; an error of the
        standard library is as good, unless the new code names it, which may be a class of its own.

        The code failed on the input by accident, and still fails.
        """
        if not self.old.kind == self.new.kind == "raised" or self.old.error in promised:
            return False
        same = replace(self.new, digest="", error=self.old.error, message="")
        if {self.old.error, self.new.error} <= _UNFINISHED:
            same = replace(same, variables=self.old.variables)
        alike = same == replace(self.old, digest="", message="", order=same.order, aliases=same.aliases)
        return alike and all(
            hasattr(builtins, each.error) or (each.error in _OF_LIBRARY and each.error not in handled)
            for each in (self.old, self.new)
        )

    def is_other_end(self, promised: Collection[str]) -> bool:
        """True if iterators end with different built-in errors, of which the old code raises none on purpose."""
        ends = [_ITERATED.findall(" ".join(each.results)) for each in (self.old, self.new)]
        if not ends[0] or len(ends[0]) != len(ends[1]) or {*ends[0]} & {*promised}:
            return False
        plain = [
            replace(each, digest="", results=(_ITERATED.sub("", " ".join(each.results)),))
            for each in (self.old, self.new)
        ]
        return plain[0] == plain[1] and all(hasattr(builtins, each) for each in (*ends[0], *ends[1]))

    def __str__(self) -> str:
        whose = _WHOSE.get(self.call.origin, "")
        if self.call.is_secret:
            return f"`{self.call.shown}`{whose} behaves differently; values are not shown, as one looks like a secret"
        call = _in_line(self.call.expression)
        if str(self.old) == str(self.new):
            if self.new.leaks > self.old.leaks:
                return f"`{shortened(call)}` leaves more files open than before"
            states = [each.variables for each in (self.old, self.new)]
            if states[0] == states[1]:
                states = [each.aliases or "nothing is shared" for each in (self.old, self.new)]
            call = _in_line(self.call.named_snippet)
            before, now = map(shortened, _without_common_parts(*states))
            return f"after `{shortened(call)}`{whose} before: {before}, now: {now}"
        before, now = map(shortened, _without_common_parts(str(self.old), str(self.new)))
        return f"`{shortened(call)}`{whose} was: {before}, now: {now}"


def _whole(text: str) -> str:
    """The text with 5 for each 5.0."""
    return _WHOLE_FLOAT.sub(r"\1", text)


def _in_line(snippet: str) -> str:
    """The snippet in one line, unless it has a block: `with a:; b` is no Python."""
    return snippet if ":\n" in snippet else snippet.replace("\n", "; ")


def _without_common_parts(one: str, other: str) -> tuple[str, str]:
    """Two texts without the long parts in which they agree, so that what differs is seen."""
    first, last = _same(one, other), _same(reversed(one), reversed(other))
    last = min(last, len(one) - first, len(other) - first)
    # A cut that saves only a few characters is not worth its mark.
    begin, end = (same - _AROUND if same > 2 * _AROUND else 0 for same in (first, last))
    one, other = (f"{'…' if begin else ''}{text[begin : len(text) - end]}{'…' if end else ''}" for text in (one, other))
    return one, other


def _same(one: Iterable[str], other: Iterable[str]) -> int:
    """How many items from the first on are equal."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))


def shortened(text: str) -> str:
    """A text cut to what a line of evidence shows."""
    text = text.replace("\x01", "")
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"

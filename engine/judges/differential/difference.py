"""A call on which two texts differ, and whether that is a counter-example; `excuses/` has why it may be none."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass

from stet_ls.engine.execution.harness_run import Call, CallOutcome
from stet_ls.engine.execution.inputs.rows import CAPTURED, DOUBLE, SUGGESTED, UNSURE

_SHOWN = 300
_AROUND = 30
"""Characters shown on both sides of what differs in long texts."""
_WHOSE = {CAPTURED: " (from a test)", SUGGESTED: " (suggested by the model)"}
NEAR = "near an example"
WRITTEN = {CAPTURED, "example"}
"""Origins of inputs that someone wrote down."""
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
        if self.fixes or self.is_direct or self.is_refused_shape or self.is_question:
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
    def is_other_function(self) -> bool:
        """True if the results differ only in which functions or patterns they are or hold: what these do is unknown."""
        held = ("\0".join((*each.results, each.variables)) for each in (self.old, self.new))
        if not (self.old.opaque and self.new.opaque) and not all("<pattern " in each for each in held):
            return False
        one, other = (_CALLABLE.sub("", "\0".join((*each.results, each.variables))) for each in (self.old, self.new))
        return one == other and (self.old.kind, self.old.printed) == (self.new.kind, self.new.printed)

    @property
    def is_question(self) -> bool:
        """True if it is to be asked about, whatever other inputs show."""
        return self.is_other_function or self.is_in_rare_letters

    @property
    def is_in_rare_letters(self) -> bool:
        """True if the input is a made one with letters of which few programs think: those without exactly one other
        case (İ, ß, ligatures), and digits that are not 0 to 9 (٣, ²).
        """
        setup = self.call.setup
        return self.call.origin not in WRITTEN and not setup.isascii() and any(map(_is_rare, setup))

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


def _is_rare(letter: str) -> bool:
    if letter.isascii():
        return False
    lower, upper = letter.lower(), letter.upper()
    return letter.isdigit() or (lower.upper(), upper.lower()) != (upper, lower)


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

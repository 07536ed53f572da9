"""Texts that begin or end with a word that the code compares with: commands and what they are given, measures."""

from __future__ import annotations

from collections.abc import Sequence

from stet_ls.engine.execution.inputs import strategies as st
from stet_ls.validators.ast_text import literal_eval

PAIRS = (("(", ")"), ("[", "]"), ("{", "}"), ("<", ">"))
FIELDS = ("1", "2", "12", "0", "a", "bc", " b ", "-3", "4.5", "7")
"""What stands between separators."""
MOST_UNITS, _MOST_SIGNS = 4, 3
"""Letters of a text that names units, as "dhms" does, and signs that stand between words."""
_LONGEST_PART = 3
_ASSIGNS = ("=", ":", ": ", " = ")
_COUNTS = ("0", "1", "2", "3")
_LONGEST_SIGN, _LONGEST_UNIT = 2, 3


def commands(compared: Sequence[str], own: Sequence[str]) -> st.SearchStrategy[str]:
    """Such words, as literals, alone or with a separator out of the literals `own`: `push 3`, `12 kg`."""
    texts = [text for each in own if each[0] in "'\"" and isinstance(text := literal_eval(each), str)]
    signs = [text for text in texts if text and not text.isalnum() and len(text) <= _LONGEST_SIGN]
    words = [str(literal_eval(each)) for each in compared]
    sign, word = st.sampled_from(signs or [" "]), st.sampled_from(words)
    field = st.one_of(st.sampled_from(_COUNTS), st.sampled_from(FIELDS))
    more = st.tuples(sign, field).map("".join)
    found = [st.tuples(word, st.one_of(st.just(""), more, more)).map("".join)]
    if units := [each for each in words if len(each) <= _LONGEST_UNIT]:
        found.append(st.tuples(field, st.sampled_from(("", " ")), st.sampled_from(units)).map("".join))
    return st.one_of(found).map(repr)


def structured(own: Sequence[str]) -> st.SearchStrategy[str]:
    """Texts that are taken apart at what the code names: fields between separators, words in a pair of signs, lines."""
    parts = [text for each in own if isinstance(text := literal_eval(each), str) and 0 < len(text) <= _LONGEST_PART]
    if not parts:
        return st.sampled_from(own)
    words = [each for each in parts if each.isalnum() and len(each) > 1]
    signs = [each for each in parts if not each.isalnum()][:_MOST_SIGNS]
    field, sign = st.sampled_from((*FIELDS, *words, *signs)), st.sampled_from(parts)
    fields = st.tuples(sign, st.lists(field, min_size=2, max_size=5)).map(lambda each: each[0].join(each[1]))
    number = st.one_of(st.sampled_from(("0", "1")), st.integers(0, 99).map(str))
    numbers = st.tuples(sign, st.lists(number, min_size=2, max_size=4)).map(lambda each: each[0].join(each[1]))
    pairs = [pair for pair in PAIRS if pair[0] in parts and pair[1] in parts] or [(each, each) for each in parts]
    enclosed = st.tuples(st.sampled_from(pairs), field).map(lambda each: each[0][0] + each[1] + each[0][1])
    units = [each for part in parts if part.isalpha() and len(part) <= MOST_UNITS for each in part]
    measured = st.lists(st.tuples(number, st.sampled_from(units or [""])).map("".join), min_size=1, max_size=3)
    assigned = st.lists(st.tuples(field, st.one_of(field, enclosed)), min_size=1, max_size=4)
    assigning = st.sampled_from([each for each in parts if each in _ASSIGNS] or parts)
    settings = st.tuples(st.one_of(st.just(""), enclosed.map(lambda each: f"{each}\n")), assigning, assigned).map(
        lambda each: each[0] + "\n".join(f"{name}{each[1]}{value}" for name, value in each[2])
    )
    spaced = st.lists(st.one_of(field, sign), min_size=2, max_size=5).map(" ".join)
    lines = st.lists(st.one_of(fields, enclosed), min_size=2, max_size=5).map("\n".join)
    sized = [st.tuples(st.sampled_from(("", " ")), measured).map(lambda each: each[0].join(each[1]))] if units else []
    return st.one_of(fields, numbers, numbers, spaced, enclosed, lines, lines, settings, settings, *sized).map(repr)


def _linked(masks: Sequence[int]) -> str:
    """A table of names that need others of it: those after them, or any for one in four, so that there are circles."""
    names = "dbac"[: len(masks)]
    needs = {
        name: [other for k, other in enumerate(names) if mask >> k & 1 and (k > n or mask >= _IN_CIRCLES)]
        for n, (name, mask) in enumerate(zip(names, masks, strict=True))
    }
    return repr(needs)


_IN_CIRCLES = 48
LINKS = st.lists(st.integers(0, 63), max_size=4).map(_linked)
CLOCKS = (
    "__import__('itertools').count(0, 2).__next__", "__import__('itertools').count(7, 3).__next__",
    "iter([0, 4, 5, 9, 9, 12, 20, 21, 30, 31, 40, 50, 55, 70, 71, 90]).__next__",
)  # fmt: skip
"""Functions that give a later time at each call."""

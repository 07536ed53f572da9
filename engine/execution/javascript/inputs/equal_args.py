"""Rows with equal or similar arguments and texts: they distinguish `===` from `<`, and ways of comparing letters.

Two draws of one kind are seldom equal, or equal except for a letter's case. Letters of two code units, or that become
two in upper case, are distinguished by `length`, `split("")` and `toUpperCase`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from random import Random
from typing import Any

from stet_ls.engine.execution.inputs.mutations import literal, text_of
from stet_ls.engine.execution.inputs.rows import ArgumentRow
from stet_ls.engine.execution.javascript.inputs.values.conversion import source

_WIDE = ("\N{THUMBS UP SIGN}", "\N{GRINNING FACE}\N{GRINNING FACE}", "e\N{COMBINING ACUTE ACCENT}")
_CASED = ("ß", "\N{LATIN SMALL LIGATURE FI}", "İ", "ſ", "É")
_EVERY = 3
_DIGITS = 15
_LONG = 3_000
"""A number of so many digits has no text in Python."""


def with_alike(
    rows: Iterable[ArgumentRow], seed: int, written: Sequence[ArgumentRow] = (), fixed: Collection[str] = ()
) -> Iterator[ArgumentRow]:
    """The rows, of JavaScript; in every third, which may be one that was `written` instead, one argument is similar to
    another, or to its old value. Those named in `fixed` stay.
    """
    random = Random(seed)  # noqa: S311 - inputs must be reproducible
    for number, row in enumerate(rows):
        if number % _EVERY < _EVERY - 1:
            yield row
        else:
            yield _alike(random.choice(written) if written and random.random() < 0.7 else row, fixed, random)


def _alike(row: ArgumentRow, fixed: Collection[str], random: Random) -> ArgumentRow:
    fit = {name: text for name, text in row.items() if name not in fixed and (len(text) < _LONG or text[0] in "'\"")}
    values = {name: value for name, text in fit.items() if (value := literal(text)) is not None}
    lists = [name for name, value in values.items() if isinstance(value, list) and value]
    held = [(name, one) for name in lists for one, value in values.items() if type(value) in (str, int, float)]
    if held and random.random() < 0.4:
        items, one = random.choice(held)
        return {**row, one: source(text_of(_as_kind(random.choice(values[items]), values[one])))}
    pairs = [two for two in itertools.permutations(values, 2) if type(values[two[0]]) is type(values[two[1]])]
    if pairs and random.random() < 0.7:
        one, other = random.choice(pairs)
        if isinstance(values[one], str) and random.random() < 0.15:
            letter = random.choice(_CASED)
            texts = (values[one] + letter, values[one] + random.choice((letter.upper(), letter.lower())))
            return {**row, **{name: source(text_of(text)) for name, text in zip((one, other), texts, strict=True)}}
        return {**row, other: source(text_of(_near(values[one], random)))}
    name = random.choice(list(values)) if values else ""
    return {**row, name: source(text_of(_near(values[name], random)))} if name else row


def _as_kind(item: Any, value: Any) -> Any:
    """An item; where the argument was of another kind, in this kind: `"1"` for 1 tells `===` from `==`."""
    if type(item) in (int, float) and isinstance(value, str):
        return str(item)
    if isinstance(item, str) and item.isdecimal() and len(item) < _DIGITS and type(value) in (int, float):
        return int(item)
    return item if type(item) is type(value) or (isinstance(value, float) and type(item) is int) else value


def _near(value: Any, random: Random) -> Any:
    """The value, or a similar one."""
    if isinstance(value, str):
        return random.choice(_TEXTS)(value, random)
    if isinstance(value, list) and value:
        at = random.randrange(len(value))
        return [_near(item, random) if number == at else item for number, item in enumerate(value)]
    if type(value) in (int, float):
        return value + random.choice((0, 0, 1, -1))
    return value


def _in_shape(text: str, random: Random) -> str:
    """Other digits for one run of them, or another letter for one: the format is kept."""
    found = list(re.finditer(r"\d{1,15}|[A-Z]|[a-z]", text))
    if not found:
        return text
    part = random.choice(found)
    first = part[0][0]
    letters = "ABCXYZ" if first.isupper() else "abcxyz"
    other = str(random.choice((0, 1, 2, int(part[0]) + 1, 10))) if first.isdigit() else random.choice(letters)
    return text[: part.start()] + other + text[part.end() :]


def _with_wide(text: str, random: Random) -> str:
    at = random.randint(0, len(text))
    return text[:at] + random.choice(_WIDE + _CASED[:2]) + text[at:]


_TEXTS = (
    lambda text, _random: text,
    lambda text, _random: text.swapcase(),
    lambda text, _random: text.upper(),
    lambda text, _random: f" {text} ",
    *[_in_shape] * 4,
    *[_with_wide] * 2,
)

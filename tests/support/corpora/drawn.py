"""Words that a regular expression means, drawn by chance."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from re import _constants as codes  # type: ignore[attr-defined]  # it has no public name
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

_LONGEST = 40
"""Repetitions beyond the least that are asked for."""
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
_CLASSES = {codes.CATEGORY_DIGIT: "0123456789", codes.CATEGORY_WORD: _LETTERS, codes.CATEGORY_SPACE: " "}


def drawn(pattern: re.Pattern[str], chance: random.Random) -> str:
    """One word that `pattern` finds; what is asked of the text around it is left out."""
    return _of(parser.parse(pattern.pattern, pattern.flags), chance)


def _of(parts: Iterable[tuple[Any, Any]], chance: random.Random) -> str:
    return "".join(_one(code, argument, chance) for code, argument in parts)


def _one(code: Any, argument: Any, chance: random.Random) -> str:
    if code is codes.LITERAL:
        return chr(argument)
    if code is codes.ANY:
        return chance.choice(_LETTERS)
    if code is codes.IN:
        return chance.choice(_choices(argument))
    if code is codes.BRANCH:
        return _of(chance.choice(argument[1]), chance)
    if code is codes.SUBPATTERN:
        return _of(argument[3], chance)
    if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
        least, most, part = argument
        return "".join(_of(part, chance) for _ in range(chance.randint(least, min(most, least + _LONGEST))))
    return ""


def _choices(members: Iterable[tuple[Any, Any]]) -> str:
    found = ""
    for code, argument in members:
        if code is codes.NEGATE:
            return "".join(set(_LETTERS) - set(_choices([m for m in members if m[0] is not codes.NEGATE])))
        if code is codes.RANGE:
            found += "".join(map(chr, range(argument[0], argument[1] + 1)))
        elif code is codes.CATEGORY:
            found += _CLASSES.get(argument, _LETTERS)
        else:
            found += chr(argument)
    return found

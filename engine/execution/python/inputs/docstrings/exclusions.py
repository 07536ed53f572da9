"""What violates the conditions that a docstring states, by its words."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from typing import Any

Breaks = Callable[[list[Any]], bool]
"""Whether the values of one call violate such words."""


def numbers(values: list[Any]) -> Iterator[float]:
    """The numbers among values and in their lists and tables."""
    for value in values:
        if isinstance(value, int | float):
            yield value
        elif isinstance(value, list | tuple):
            yield from numbers(list(value))
        elif isinstance(value, dict):
            yield from numbers(list(value.values()))


def _groups(values: list[Any]) -> list[Any]:
    return [each for each in values if isinstance(each, list | tuple | str | dict | set)]


def _has_empty_items(values: list[Any]) -> bool:
    items = (item for each in values if isinstance(each, list | tuple) for item in each)
    return any(item in ("", b"", [], (), {}) for item in items)


def _is_no_square(value: Any) -> bool:
    return isinstance(value, list) and any(not hasattr(row, "__len__") or len(row) != len(value) for row in value)


def _is_descending(values: list[Any]) -> bool:
    numbers = [each for each in values if isinstance(each, int | float)]
    return len(numbers) > 1 and numbers[-2] > numbers[-1]


def _is_circular(value: Any) -> bool:
    """Whether the keys of a dictionary, or the numbers of a list's items, lead back to one of them."""
    if not isinstance(value, dict | list):
        return False
    links = value if isinstance(value, dict) else dict(enumerate(value))
    for start in links:
        met, at = {start}, links[start]
        while isinstance(at, str | int) and at in links:
            if at in met:
                return True
            met.add(at)
            at = links[at]
    return False


_FROM = r"\b(?:numbers?|integers?|whole \w+) from (?:{})\b(?! to)"


_WORDS: tuple[tuple[str, Breaks], ...] = (
    (r"at least (one|1|two|three)|there (is|are) (always )?at least|(is|are|be) not empty|(never|not) empty|non-?empty",
     lambda values: any(not each for each in _groups(values))),
    (r"at least (two|2)\b", lambda values: any(len(each) < 2 for each in _groups(values))),
    (r"at least (three|3)\b", lambda values: any(len(each) < 3 for each in _groups(values))),
    (r"\b(not|never|cannot be|can't be) negative|non-?negative",
     lambda values: any(each < 0 for each in numbers(values))),
    (_FROM.format("0|zero"), lambda values: any(each < 0 for each in numbers(values))),
    (_FROM.format("1|one"), lambda values: any(each < 1 for each in numbers(values))),
    (r"\bpositive\b", lambda values: any(each <= 0 for each in numbers(values))),
    (r"(is|are|be) not zero|non-?zero", lambda values: any(each == 0 for each in numbers(values))),
    (r"(of|have) (one|the same|equal) (length|size)|equally long",
     lambda values: len({len(each) for each in _groups(values)}) > 1 or any(map(is_ragged, values))),
    (r"\bno (circles|cycles)\b|\bacyclic\b", lambda values: any(map(_is_circular, values))),
    (r"\bsquare matrix\b", lambda values: any(map(_is_no_square, values))),
    (r"\bfirst is not (above|greater|larger|more)", _is_descending),
    (r"none of (them|which) (is )?empty", _has_empty_items),
)  # fmt: skip


_SORTED_BY = re.compile(r"(?i)\b(?:sorted|ordered|ascending) by (?:their |its )?`?(\w+)")


def is_ragged(value: Any) -> bool:
    """Whether a list holds lists of several lengths."""
    return isinstance(value, list | tuple) and len({len(each) for each in value if isinstance(each, list | tuple)}) > 1


_SHAPES: tuple[tuple[str, Breaks], ...] = (
    (r"\b(?!by\b)\w+ ?(?:x|×|by) ?\w+ (?:grid|matrix|board|rectangle|chessboard)\b",
     lambda values: any(isinstance(each, int) and each < 1 for each in values)),
    (r"\blengths? of (?:(?:the|its|all|three) )*(?:\w+ )?(?:sides|edges)\b",
     lambda values: any(each <= 0 for each in numbers(values))),
)  # fmt: skip
"""What an argument is, whatever its sentence says of it."""


def exclusions(docs: str, whole: str = "") -> list[Breaks]:
    """What violates the conditions that a text states; `whole` is the docstring with all else that it says."""
    ordered = [_is_unordered_by(each[1]) for each in _SORTED_BY.finditer(docs)]
    stated = (breaks for words, breaks in _WORDS if re.search(words, docs, re.IGNORECASE))
    shaped = (breaks for words, breaks in _SHAPES if re.search(words, whole, re.IGNORECASE))
    return [*stated, *shaped, *ordered]


def _is_unordered_by(key: str) -> Breaks:
    """Whether a list holds dictionaries that are not in the order of a key."""

    def breaks(values: list[Any]) -> bool:
        lists = [each for each in values if isinstance(each, list) and all(isinstance(item, dict) for item in each)]
        found = ([item[key] for item in each if key in item] for each in lists)
        return any(one > other for each in found for one, other in itertools.pairwise(each)
                   if isinstance(one, int | float) and isinstance(other, int | float))  # fmt: skip

    return breaks

"""Bounds of parameters that a documentation states in words: `n is between 0 and 200`, `high is not below low`."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

_SIGNS: Mapping[str, Callable[[Any, Any], bool]] = {
    "at least": operator.ge, "not below": operator.ge, "not less than": operator.ge, "not smaller than": operator.ge,
    "at most": operator.le, "not above": operator.le, "not more than": operator.le, "not greater than": operator.le,
    "not larger than": operator.le, "above": operator.gt, "greater than": operator.gt, "more than": operator.gt,
    "larger than": operator.gt, "below": operator.lt, "less than": operator.lt, "smaller than": operator.lt,
    ">=": operator.ge, "≥": operator.ge, "<=": operator.le, "≤": operator.le, ">": operator.gt, "<": operator.lt,
}  # fmt: skip
_IS = (
    r"`?\b(?P<name>\w+)`?[:,]? (?:(?:which |that )?(?:is|are|must be|has to be|should be) )?"
    r"(?:(?:not negative|non-negative|positive)(?:,| and|, and) )?"
    r"(?:always |an? \w+ |an? (?:\w+ ){0,2}\w+, )?"
)
_VALUE = r"`?(?P<{}>-?\d+(?:\.\d+)?|(?:an? |one )?(?:hundred|thousand|million|billion)|[A-Za-z_]\w*)\b`?"
_LARGE = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9}
_ONE = re.compile(_IS + f"(?P<sign>{'|'.join(sorted(_SIGNS, key=len, reverse=True))}) " + _VALUE.format("bound"))
_IN_BRACKETS = re.compile(
    r"`?\b(?P<name>\w+)`? (?:\w+ )?\((?:always )?"
    + f"(?P<sign>{'|'.join(sorted(_SIGNS, key=len, reverse=True))}) {_VALUE.format('bound')}\\)"
)
"""A bound in brackets: `runs of size items (at least 1)`."""
_TWO = re.compile(_IS + "(?:between|from|in) " + _VALUE.format("low") + " (?:and|to|through) " + _VALUE.format("high"))
_COUNT = re.compile(r"(?i)\bat least (?P<count>one|two|three|\d+) (?P<name>[a-z_]+)\b")
_COUNTS = {"one": 1, "two": 2, "three": 3}
_WHOSE = re.compile(
    r"\bwhose numbers? (?:is|are) (?:always )?(?:between|from|in) "
    + _VALUE.format("low")
    + " (?:and|to|through) "
    + _VALUE.format("high")
)
"""A bound of the numbers in a text: `a reading like k:3, whose number is between 1 and 9`."""
_DIGITS = re.compile(r"-?\d+")
_PARTS = re.compile(r"(?<!\w)\((\w+(?:, \w+)+)\)")
"""The parts of an item, by name: `a range is (start, end) with start <= end`."""


def outside_stated_bounds(docs: str, values: Mapping[str, Any]) -> bool:
    """Whether the values of a call, by parameter, violate a bound that `docs` states for one of them.

    A bound of a plural holds for the items of a list, and one of an item's part for that part of each.
    """
    bounds = [
        (each["name"], _SIGNS[each["sign"]], each["bound"])
        for each in (*_ONE.finditer(docs), *_IN_BRACKETS.finditer(docs))
    ]
    for each in _WHOSE.finditer(docs):
        bounds += [("whose", operator.ge, each["low"]), ("whose", operator.le, each["high"])]
    for each in _TWO.finditer(docs):
        bounds += [(each["name"], operator.ge, each["low"]), (each["name"], operator.le, each["high"])]
    if any(_is_fewer(_named(values, each["name"]), each["count"].lower()) for each in _COUNT.finditer(docs)):
        return True
    if not bounds:
        return False
    items = [dict(zip(names, item, strict=True)) for found in _PARTS.finditer(docs)
             for names in [found[1].split(", ")] for item in _items(values, len(names))]  # fmt: skip
    return any(_is_broken(each, *bound) for each in (values, *items) for bound in bounds)


def _items(values: Mapping[str, Any], size: int) -> Iterator[Any]:
    """The tuples and lists of a size among the items of the values."""
    held = (item for value in values.values() if isinstance(value, list | tuple) for item in (value, *value))
    return (each for each in held if isinstance(each, list | tuple) and len(each) == size)


def _is_broken(values: Mapping[str, Any], name: str, holds: Callable[[Any, Any], bool], bound: str) -> bool:
    held, limit = _named(values, name), values[bound] if bound in values else _number(bound)
    if held is None and name == "whose":
        held = [float(each) for value in values.values() if isinstance(value, str) for each in _DIGITS.findall(value)]
    found = held if isinstance(held, list | tuple) else [held]
    return any(_is_number(each) and _is_number(limit) and not holds(each, limit) for each in found)


def _is_fewer(value: Any, count: str) -> bool:
    """Whether a number is below that of `at least one part`, or a container holds fewer."""
    least = _COUNTS[count] if count in _COUNTS else int(count)
    if isinstance(value, str | list | tuple | dict | set):
        return len(value) < least
    return _is_number(value) and value < least


def _named(values: Mapping[str, Any], name: str) -> Any:
    """The value of a parameter, or of an item's part, whose name is this word, its singular or its plural."""
    return next((values[each] for each in (name, name.removesuffix("s"), f"{name}s") if each in values), None)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(text: str) -> float | None:
    if (word := text.rpartition(" ")[2]) in _LARGE:
        return _LARGE[word]
    try:
        return float(text)
    except ValueError:
        return None

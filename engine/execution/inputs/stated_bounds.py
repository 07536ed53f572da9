"""Bounds of parameters that a documentation states in words: `n is between 0 and 200`, `high is not below low`."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

_SIGNS: Mapping[str, Callable[[Any, Any], bool]] = {
    "at least": operator.ge, "not below": operator.ge, "not less than": operator.ge, "not smaller than": operator.ge,
    "at most": operator.le, "not above": operator.le, "not more than": operator.le, "not greater than": operator.le,
    "not larger than": operator.le, "above": operator.gt, "greater than": operator.gt, "more than": operator.gt,
    "larger than": operator.gt, "below": operator.lt, "less than": operator.lt, "smaller than": operator.lt,
}  # fmt: skip
_IS = r"`?\b(?P<name>\w+)`?:? (?:(?:is|are|must be|has to be|should be) )?(?:always |an? \w+ )?"
_VALUE = r"`?(?P<{}>-?\d+(?:\.\d+)?|[A-Za-z_]\w*)\b`?"
_ONE = re.compile(_IS + f"(?P<sign>{'|'.join(sorted(_SIGNS, key=len, reverse=True))}) " + _VALUE.format("bound"))
_TWO = re.compile(_IS + "(?:between|from|in) " + _VALUE.format("low") + " (?:and|to|through) " + _VALUE.format("high"))


def outside_stated_bounds(told: str, values: Mapping[str, Any]) -> bool:
    """Whether the values of a call, by parameter, violate a bound that `told` states for one of them."""
    bounds = [(each["name"], _SIGNS[each["sign"]], each["bound"]) for each in _ONE.finditer(told)]
    for each in _TWO.finditer(told):
        bounds += [(each["name"], operator.ge, each["low"]), (each["name"], operator.le, each["high"])]
    return any(_is_broken(values, *bound) for bound in bounds)


def _is_broken(values: Mapping[str, Any], name: str, holds: Callable[[Any, Any], bool], bound: str) -> bool:
    value, limit = values.get(name), values[bound] if bound in values else _number(bound)
    are_numbers = all(isinstance(each, int | float) and not isinstance(each, bool) for each in (value, limit))
    return are_numbers and not holds(value, limit)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None

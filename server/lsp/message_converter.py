"""Converts JSON to the protocol's types: pygls' converter with fixes, and errors in words."""

from __future__ import annotations

import re
from enum import Enum
from typing import Any, cast

import cattrs
from lsprotocol import types
from pygls.protocol import default_converter


def converter_factory() -> cattrs.Converter:
    """pygls' converter, but a number or a name from a newer specification does not make a message unreadable."""
    converter = cast(cattrs.Converter, default_converter())  # type: ignore[no-untyped-call]
    # One by one: most of them are also an int or a str, and cattrs' hooks for those would come first.
    for kind in vars(types).values():
        if isinstance(kind, type) and issubclass(kind, Enum):
            converter.register_structure_hook(kind, _member_or_value)
    return converter


def _member_or_value(value: Any, kind: Any) -> Any:
    try:
        return kind(value)
    except ValueError:
        if isinstance(value, type(next(iter(kind)).value)):
            return value
        raise


_FAULT = re.compile(r"(?P<what>.*?)(?:, expected Optional)? @ \$\.(?P<where>.*)", re.DOTALL)
_MOST_FAULTS = 5


def faults(problem: Exception) -> str:
    """The errors in a message, by the names of its fields in JSON; never quotes a value."""
    found = []
    for line in cattrs.transform_error(problem, path="$"):
        if match := _FAULT.fullmatch(line):
            where = re.sub(r"_([a-z])", lambda letter: letter[1].upper(), match["where"])
            found.append(f"{where}: {match['what']}")
    return "; ".join(found[:_MOST_FAULTS]) or "the params do not fit the method"

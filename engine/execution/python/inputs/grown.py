"""Calls with two sizes of large arguments, whose times tell how the cost grows."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Any

from stet_ls.engine.execution.harness_run import Call, GrownCall
from stet_ls.engine.execution.inputs.mutations import literal, text_of
from stet_ls.engine.execution.python.inputs.subject import Module, known_module, subject_of

SMALLER, LARGER = 1_000, 4_000
_MOST, _LOOKED_AT = 12, 120
_LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.comprehension)
_SPREAD = "n * 7919 % 100003"
"""Whole numbers in no order, all different."""
_BELOW = 40
"""The first node of a long chain, so that a small number is one of it."""


def grown_calls(calls: Sequence[Call], texts: tuple[str, str], unit: str) -> tuple[GrownCall, ...]:
    """Some of the calls of a unit with larger arguments, of different kinds; none if neither text has a loop."""
    modules = [module for text in texts if (module := known_module(text))]
    if not any(_has_loop(module, unit) for module in modules):
        return ()
    found: dict[str, GrownCall] = {}
    for number, call in enumerate(calls[:_LOOKED_AT]):
        if call.again or "__files__" in call.setup:
            continue
        values = {name: grown for name, text in call.bindings().items() if (grown := _grown(literal(text)))}
        kind = "\n".join(f"{name} = {re.sub(r'[0-9]+', '0', text)}" for name, text in values.items())
        if values and kind not in found:
            setups = [call.with_bindings(values).setup.replace("_SIZE_", str(size)) for size in (SMALLER, LARGER)]
            found[kind] = GrownCall(number, call.body, setups[0], setups[1])
    return tuple(found.values())[:_MOST]


def _has_loop(module: Module, unit: str) -> bool:
    subject = subject_of(module, unit)
    return subject is not None and any(isinstance(each, _LOOPS) for each in ast.walk(subject.node))


def _grown(value: Any) -> str:
    """The text of a large value like this one, with different items; "" if it has no size."""
    if isinstance(value, str) and value:
        return "' '.join(f'w{n}' for n in range(_SIZE_))"
    if isinstance(value, list | tuple) and value:
        return f"{type(value).__name__}({grown_item(value[0])} for n in range(_SIZE_))"
    if isinstance(value, set | frozenset) and value:
        return f"{{{grown_item(next(iter(value)))} for n in range(_SIZE_)}}"
    if isinstance(value, dict) and value:
        key, item = next(iter(value.items()))
        if type(key) is int and isinstance(item, list) and all(type(each) is int for each in item):
            return f"{{n: [n + 1] for n in range(-{_BELOW}, _SIZE_)}}"  # the links of a graph
        return f"{{{grown_item(key)}: {grown_item(item)} for n in range(_SIZE_)}}"
    return ""


def grown_item(value: Any) -> str:
    """An item like this one that depends on its number `n`."""
    if isinstance(value, bool) or value is None:
        return text_of(value)
    if isinstance(value, int | float):
        return _SPREAD
    if isinstance(value, str):
        return "f'k{n}'"
    if isinstance(value, list):
        return "[" + ", ".join(map(grown_item, value)) + "]"
    if isinstance(value, tuple):
        return "(" + "".join(f"{grown_item(each)}, " for each in value) + ")"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{text_of(key)}: {grown_item(each)}" for key, each in value.items()) + "}"
    return text_of(value)

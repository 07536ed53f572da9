"""Enlarged inputs, which reveal an algorithm's cost."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from stet_ls.engine.execution.harness_run import Call
from stet_ls.engine.execution.inputs.mutations import literal, text_of

_LARGEST = 20_000


def scaled(call: Call, factor: int) -> Call | None:
    """The call with its lists, texts and dictionaries `factor` times as long; None if it has none."""
    lines = []
    changed = False
    for line in call.setup.splitlines():
        name, _, text = line.partition(" = ")
        value = literal(text)
        larger = _larger(value, factor)
        if larger is not value:
            changed = True
            lines.append(f"{name} = {text_of(larger)}")
        else:
            lines.append(line)
    setup = "\n".join(lines)
    return replace(call, setup=setup, origin="grown") if changed and len(setup) < _LARGEST else None


def _larger(value: Any, factor: int) -> Any:
    """The value repeated; whole numbers in it are shifted in each copy, so that items stay as distinct as before."""
    if isinstance(value, str | bytes) and value:
        return value * factor
    if isinstance(value, list | tuple) and value:
        return type(value)(_moved(item, copy * len(value)) for copy in range(factor) for item in value)
    if isinstance(value, set) and value:
        return {_moved(item, copy * 100) for copy in range(factor) for item in value}
    if isinstance(value, dict) and value:
        return {_moved(key, copy * 100): item for copy in range(factor) for key, item in value.items()}
    return value


def _moved(item: Any, by: int) -> Any:
    if type(item) is int:
        return item + by
    if type(item) is str and by:
        return f"{item}{by}"
    return item

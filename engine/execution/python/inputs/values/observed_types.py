"""Infers hints for parameters without one from written values."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from stet_ls.engine.execution.inputs.mutations import literal
from stet_ls.engine.execution.inputs.rows import ArgumentRow
from stet_ls.engine.execution.python.inputs.subject import Parameter
from stet_ls.validators.ast_text import parse_expression

_PLAIN = ("bool", "int", "float", "str", "bytes")


def with_observed_hints(parameters: Sequence[Parameter], rows: Sequence[ArgumentRow]) -> list[Parameter]:
    """The parameters; those without a hint get the hint of their values in the rows."""
    return [
        replace(each, annotation=_hint(each, rows)) if each.annotation is None and each.name[0] != "*" else each
        for each in parameters
    ]


def _hint(parameter: Parameter, rows: Sequence[ArgumentRow]) -> ast.expr | None:
    texts = [row[parameter.name] for row in rows if parameter.name in row]
    values = [literal(text) for text in texts if text != "None"]
    if not values or any(value is None or value is ... for value in values):
        return None
    kind = _union([*values, *(None for text in texts if text == "None")])
    return parse_expression(kind).body


def _union(values: Iterable[Any]) -> str:
    return " | ".join(dict.fromkeys(_kind(value) for value in values))


def _kind(value: Any) -> str:
    name = type(value).__name__
    if value is None:
        return "None"
    if name in _PLAIN:
        return name
    if isinstance(value, dict):
        return f"dict[{_union(value) or 'str'}, {_union(value.values()) or 'int'}]"
    if isinstance(value, tuple) and value:
        return f"tuple[{', '.join(map(_kind, value))}]"
    return f"{name}[{_union(value) or 'int'}]" if isinstance(value, list | set | frozenset | tuple) else name

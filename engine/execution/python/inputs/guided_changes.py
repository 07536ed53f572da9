"""Changes Python calls to reach what the first inputs left unexecuted; see `inputs/coverage_guided.py`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from stet_ls.engine.execution.harness_run import Call
from stet_ls.engine.execution.inputs.coverage_guided import LiteralValues, with_text
from stet_ls.engine.execution.inputs.mutations import text_of, value_of
from stet_ls.validators.ast_text import parse_expression, parse_module, unparse

_SIZED = ("range", "list", "map", "sorted")
"""Calls that make long arguments: their sizes were chosen."""


def changed_call(call: Call, values: LiteralValues) -> Call | None:
    """The call with some of its arguments changed; None if none is a literal."""
    written = call.setup or call.body  # a sequence of calls on an object has no setup
    tree = parse_module(written)
    before = unparse(tree)
    for holder, key, node in list(_places(tree)):
        value = value_of(node)
        if values.random.random() < 0.3 or (value is None and not _is_none(node)):
            continue
        # Another kind within a sequence of calls breaks the rest of it.
        is_bound = isinstance(holder, ast.Assign)
        new = parse_expression(text_of(values.instead(value, call) if is_bound else values.like(value))).body
        if isinstance(holder, list):
            holder[key] = new
        else:
            setattr(holder, key, new)
    made = unparse(tree)
    return None if made == before else with_text(call, made)


def _places(tree: ast.Module) -> Iterator[tuple[Any, Any, ast.expr]]:
    """The bound values and the arguments of created objects, each with its position."""
    for each in ast.walk(tree):
        if isinstance(each, ast.Assign):
            yield each, "value", each.value
        elif isinstance(each, ast.Call) and getattr(each.func, "id", "") not in _SIZED:
            yield from ((each.args, number, value) for number, value in enumerate(each.args))
            yield from ((keyword, "value", keyword.value) for keyword in each.keywords)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None

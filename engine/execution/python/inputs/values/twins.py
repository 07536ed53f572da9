"""Lists in which items agree in all but a text: what sorts or picks shows by them how it treats ties."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator

from stet_ls.engine.execution.harness_run import Call
from stet_ls.engine.execution.python.inputs.subject import known_module, subject_of
from stet_ls.validators.ast_text import try_parse_expression, unparse

_LOOKED_AT, _MOST = 120, 8
_BEHIND = 40
"""The number of other calls that come first."""
_TWINS = ("b", "a", "c")
"""The texts of the items that agree otherwise, in no order."""
_CHOOSING = {"min", "max", "sorted", "sort", "nsmallest", "nlargest", "groupby", "heapify", "heappush"}


def with_equal_lists(calls: tuple[Call, ...], texts: tuple[str, str], unit: str) -> tuple[Call, ...]:
    """The calls of a unit of two texts, and some with such lists if one of the texts compares items."""
    modules = [known_module(text) for text in texts]
    subjects = [subject_of(module, unit) if module else None for module in modules]
    if not any(_chooses(node) for subject in subjects if subject for node in ast.walk(subject.node)):
        return calls
    found: dict[str, Call] = {}
    for call in calls[:_LOOKED_AT]:
        for each in _twins(call):
            found.setdefault(each.setup, each)
        if len(found) >= _MOST:
            break
    return (*calls[:_BEHIND], *found.values(), *calls[_BEHIND:])


def _chooses(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return getattr(node.func, "id", getattr(node.func, "attr", "")) in _CHOOSING
    return isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Lt | ast.LtE | ast.Gt | ast.GtE)


def _twins(call: Call) -> Iterator[Call]:
    """The call with one of its lists made of items that differ in a text alone, and then of its own items."""
    for name, text in call.bindings().items():
        value = try_parse_expression(text) if text.startswith("[") else None
        items = value.elts if isinstance(value, ast.List) else []
        made = [each for text in _TWINS if items and (each := _with_text(items[0], text)) is not None]
        if made:
            origin = "near an example" if call.origin == "example" else call.origin
            yield call.with_bindings({name: unparse(ast.List([*made, *items]))}, origin=origin)


def _with_text(item: ast.expr, text: str) -> ast.expr | None:
    """A copy of a record with this as its first text; None for what has no text, or nothing besides one."""
    new = copy.deepcopy(item)
    parts: list[ast.expr] = []
    if isinstance(new, ast.Call):
        parts = [*new.args, *(each.value for each in new.keywords)]
    elif isinstance(new, ast.Tuple | ast.List):
        parts = new.elts
    elif isinstance(new, ast.Dict):
        parts = new.values
    texts = [each for each in parts if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    if not texts or len(parts) < 2:
        return None
    texts[0].value = text
    return new

"""Objects that a class is given and calls: a client, a clock, a callback. Stand-ins take their places."""

from __future__ import annotations

import ast

from stet_ls.engine.execution.python.inputs.subject import ClassShape
from stet_ls.engine.execution.python.inputs.values.kinds.kind_names import METHODS

MADE = "__double__("
"""How a stand-in is made, in a call's text."""
_OF_VALUES = METHODS.keys() | {
    "items", "keys", "values", "get", "setdefault", "append", "extend", "pop", "copy", "index", "count", "remove",
    "clear", "insert", "sort", "popleft", "appendleft", "update",
}  # fmt: skip
"""Methods of values: what has one of them called is not taken for a collaborator."""


def collaborators(shape: ClassShape) -> frozenset[str]:
    """The parameters of a class' creation without a hint that its methods call, or call a method of."""
    init = next((each for each in shape.node.body if getattr(each, "name", "") == "__init__"), None)
    open_ones = {each.name for each in shape.init if each.annotation is None and each.default is None}
    if init is None or not open_ones:
        return frozenset()
    stored: dict[str, str] = {}
    for each in ast.walk(init):
        if isinstance(each, ast.Assign):
            for target in each.targets:
                stored |= _pairs(target, each.value)
    called = set()
    for each in ast.walk(shape.node):
        if isinstance(each, ast.Call):
            held = each.func
            if isinstance(held, ast.Attribute) and _own(held) is None and held.attr not in _OF_VALUES:
                held = held.value
            if (name := _own(held)) is not None:
                called.add(name)
    return frozenset(parameter for name, parameter in stored.items() if name in called and parameter in open_ones)


def _pairs(target: ast.expr, value: ast.expr) -> dict[str, str]:
    """The attributes of `self` that are set to a name, and that name; of several at once, too."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        found: dict[str, str] = {}
        for one, other in zip(target.elts, value.elts, strict=True):
            found |= _pairs(one, other)
        return found
    name = _own(target)
    return {name: value.id} if name is not None and isinstance(value, ast.Name) else {}


def _own(node: ast.expr) -> str | None:
    """The name of an attribute of `self`."""
    is_own = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    return node.attr if is_own and isinstance(node, ast.Attribute) else None

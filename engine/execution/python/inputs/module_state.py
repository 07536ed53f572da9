"""The module variables that a unit may change: callers see them like a return value."""

from __future__ import annotations

import ast
import itertools
from dataclasses import replace

from stet_ls.engine.execution.harness_run import Call
from stet_ls.engine.execution.inputs.repeated_calls import AHEAD
from stet_ls.engine.execution.python.inputs.subject import Module, read_module

_NEIGHBORS = 3
_IN_TURN = 12
MOST_NEIGHBOR_CALLS = _NEIGHBORS**2 + _IN_TURN - 1
"""Calls after a neighbor, and in turn."""
_CHANGING = frozenset({
    "append", "extend", "insert", "remove", "pop", "popleft", "appendleft", "clear", "sort", "reverse", "add",
    "discard", "update", "setdefault", "popitem",
})  # fmt: skip


def changed_by(texts: tuple[str, str], unit: str) -> tuple[str, ...]:
    """The top-level variables of both texts of a module that the unit changes in one of them.

    Private ones count if another function of both texts reads them, or the unit only ever writes to them: then someone
    else reads them. Otherwise they are internal to the unit.
    """
    modules = [read_module(text) for text in texts]
    if None in modules:
        return ()
    known = set.intersection(*(set(module.values) for module in modules if module))
    found = {name for module in modules if module for name in _changes(module, unit.partition(".")[0])}
    seen = set.intersection(*(_used_by_others(module, unit.partition(".")[0]) for module in modules if module))
    read = {name for module in modules if module for name in _read(module, unit.partition(".")[0])}
    return tuple(sorted(
        name for name in found & known if not name.startswith("_") or name in seen or name not in read
    ))  # fmt: skip


def with_neighbor_calls(calls: tuple[Call, ...], text: str, unit: str) -> tuple[Call, ...]:
    """The calls, and some after one more and a function of the module that changes what the unit uses, as `reset` does.

    It is given the first arguments of the call.
    """
    module = read_module(text)
    if module is None or "." in unit:
        return calls
    changed = _changes(module, unit) & set(module.values)
    used = changed or _read(module, unit) & set(module.values)
    neighbors = {each.name: len(each.args.args) - len(each.args.defaults) for each in module.tree.body
              if isinstance(each, ast.FunctionDef) and each.name != unit and not each.args.kwonlyargs
              and _changes(module, each.name) & used}  # fmt: skip
    first = [call for call in calls[:AHEAD] if call.body.startswith("__out__(")]
    more = [replace(call, body=f"{call.body[len('__out__') :]}\n{name}({', '.join(call.names[:count])})\n{call.body}",
                    again=True)
            for name, count in list(neighbors.items())[:_NEIGHBORS]
            for call in [each for each in first if len(each.names) >= count][:_NEIGHBORS]]  # fmt: skip
    more += _in_turn(calls) if changed else []
    return (*calls[:AHEAD], *more, *calls[AHEAD:])


def _in_turn(calls: tuple[Call, ...]) -> list[Call]:
    """Calls after another one with other arguments, which may have left something behind."""
    single = [call for call in calls if call.body.startswith("__out__(") and not call.again][:_IN_TURN]
    return [replace(second, setup=f"{first.setup}\n{first.body[len('__out__') :]}\n{second.setup}", again=True)
            for first, second in itertools.pairwise(single) if first.setup != second.setup]  # fmt: skip


def _used_by_others(module: Module, name: str) -> set[str]:
    """The names that the module's other functions and classes use."""
    others = [each for each in module.tree.body if getattr(each, "name", name) != name]
    return {each.id for other in others for each in ast.walk(other) if isinstance(each, ast.Name)}


def _changes(module: Module, name: str) -> set[str]:
    node = next((each for each in module.tree.body if getattr(each, "name", "") == name), None)
    found: set[str] = set()
    for each in ast.walk(node) if node is not None else ():
        if isinstance(each, ast.Global):
            found.update(each.names)
        elif isinstance(each, ast.Subscript | ast.Attribute) and not isinstance(each.ctx, ast.Load):
            found.add(_root(each))
        elif isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr in _CHANGING:
            found.add(_root(each.func))
    return found


def _read(module: Module, name: str) -> set[str]:
    """The names whose contents a unit looks at: not those that it only adds to, or takes from without a look."""
    node = next((each for each in module.tree.body if getattr(each, "name", "") == name), None)
    nodes = list(ast.walk(node)) if node is not None else []
    alone = [each.value for each in nodes if isinstance(each, ast.Expr)]  # `names.append(name)` as a statement
    changing = [each.func for each in alone if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute)]
    written = {id(each.value) for each in changing if each.attr in _CHANGING}
    written |= {id(each.value) for each in nodes if isinstance(each, ast.Subscript) and isinstance(each.ctx, ast.Store)}
    return {each.id for each in nodes if isinstance(each, ast.Name) and id(each) not in written}


def _root(node: ast.expr) -> str:
    """The name that `a.b[0].c` begins with."""
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""

"""Trees and linked lists of objects: for a parameter whose attributes lead to more of the same kind."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence

from stet_ls.engine.execution.inputs import strategies as st
from stet_ls.engine.execution.python.inputs.arguments import arguments
from stet_ls.engine.execution.python.inputs.subject import ClassShape, Function, Parameter
from stet_ls.engine.execution.python.inputs.values.kinds.kind_names import named_kind
from stet_ls.engine.execution.python.inputs.values.plain_values import INTEGERS, PLAIN, ModuleContext, TextStrategy
from stet_ls.validators.ast_text import unparse

_LEVELS = {1: 6, 2: 4}
_MANY_LEVELS = 3
"""How deep trees are, by the number of attributes that lead on."""
Hinted = Callable[[Parameter], TextStrategy | None]


def linked_objects(parameter: Parameter, node: ast.AST, known: ModuleContext, hinted: Hinted) -> TextStrategy | None:
    """Trees, or linked lists, of objects of the module's class for them or else of plain ones.

    None if no attribute of the parameter leads to more of its kind. `hinted` gives the strategy of another parameter of
    the class by its hint, if it has one.
    """
    if parameter.name[0] == "*" or not isinstance(node, Function):
        return None
    names = _aliases(parameter.name, node)
    links = _links(parameter.name, names, node)
    shape = _class_of(parameter, known)
    if not links or (parameter.annotation is not None and shape is None):
        return None
    if shape is not None and not set(links) <= {each.name for each in shape.init}:
        return None

    def level(below: TextStrategy) -> TextStrategy:
        if shape is None:
            values = {name: _value(name, known) for name in _other_attributes(names, links, node)}
            rows = st.fixed_dictionaries({**values, **dict.fromkeys(links, below)})
            return rows.map(lambda row: f"__import__('types').SimpleNamespace({_keywords(row)})")
        given = {each.name: below if each.name in links else hinted(each) or _value(each.name, known)
                 for each in shape.init if each.name[0] != "*"}  # fmt: skip
        return st.fixed_dictionaries(given).map(lambda row: f"{shape.name}({arguments(shape.init, row)})")

    end = st.just("None")
    objects = level(end)
    for _ in range(_LEVELS.get(len(links), _MANY_LEVELS) - 1):
        objects = level(st.one_of(end, objects, objects))
    return st.one_of(objects, objects, objects, end) if _is_tested(names, node) else objects


def _aliases(name: str, node: ast.AST) -> set[str]:
    """The names that stand for a parameter, or for what its attributes lead to: `current = head`."""
    names = {name}
    for _ in range(2):
        for each in ast.walk(node):
            if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name) and _held(each.value) in names:
                names.add(each.targets[0].id)
    return names


def _held(value: ast.expr) -> str:
    return value.id if isinstance(value, ast.Name) else ""


def _links(name: str, names: set[str], node: Function) -> list[str]:
    """The attributes that are given to the function itself in place of the parameter, or take the place of their
    object in a loop.
    """
    place = next((n for n, each in enumerate(node.args.args) if each.arg == name), -1)
    methods = {id(each.func) for each in ast.walk(node) if isinstance(each, ast.Call)}
    found = []
    for each in ast.walk(node):
        if isinstance(each, ast.Call) and getattr(each.func, "id", "") == node.name and -1 < place < len(each.args):
            found += [_attribute(each.args[place], names)]
        elif isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name) and each.targets[0].id in names:
            parts = (part for part in ast.walk(each.value) if isinstance(part, ast.Attribute))
            found += [_attribute(part, names) for part in parts if id(part) not in methods]
    return list(dict.fromkeys(filter(None, found)))


def _attribute(value: ast.AST, names: set[str]) -> str:
    """The attribute of one of the names that an expression is; "" if it is another one."""
    is_one = isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name) and value.value.id in names
    return value.attr if is_one and isinstance(value, ast.Attribute) else ""


def _other_attributes(names: set[str], links: Sequence[str], node: ast.AST) -> list[str]:
    read = dict.fromkeys(_attribute(each, names) for each in ast.walk(node))
    return [each for each in read if each and each not in links]


def _class_of(parameter: Parameter, known: ModuleContext) -> ClassShape | None:
    """The module's class that the hint names, or else the parameter's name."""
    if parameter.annotation is None:
        return known.module.shapes.get("".join(part.capitalize() for part in parameter.name.split("_")))
    named = re.findall(r"\w+", unparse(parameter.annotation))
    return next((known.module.shapes[each] for each in named if each in known.module.shapes), None)


def _is_tested(names: set[str], node: ast.AST) -> bool:
    """Whether the code asks if there is an object: the parameter may be None."""
    tests = [each.test for each in ast.walk(node) if isinstance(each, ast.If | ast.While | ast.IfExp)]
    return any(isinstance(part, ast.Name) and part.id in names and not _is_read(part, test)
               for test in tests for part in ast.walk(test))  # fmt: skip


def _is_read(name: ast.Name, test: ast.expr) -> bool:
    return any(isinstance(each, ast.Attribute) and each.value is name for each in ast.walk(test))


def _value(name: str, known: ModuleContext) -> TextStrategy:
    kind = named_kind(name)
    return PLAIN[kind](known) if kind in PLAIN else INTEGERS(known)


def _keywords(row: dict[str, str]) -> str:
    return ", ".join(f"{name}={text}" for name, text in row.items())

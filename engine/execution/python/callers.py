"""The public functions and methods through which a private one is called."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stet_ls.engine.execution.nearest_callers import nearest_callers
from stet_ls.engine.execution.python.inputs.subject import Function, Module, known_module, subject_of
from stet_ls.validators.ast_text import dump

_MAKES = {"__init__", "__new__", "__post_init__"}


def public_callers(before: str, after: str, unit: str) -> tuple[str, ...]:
    """The nearest public callers of a private unit that both texts hold alike, in the order of the file; none for a
    public unit, and for one without such callers. Parses: not for an event loop.
    """
    modules = known_module(before), known_module(after)
    if modules[0] is None or modules[1] is None or not _is_private(unit):
        return ()
    old, new = _functions(modules[0]), _functions(modules[1])
    alike = {name for name, node in old.items() if name in new and dump(node) == dump(new[name])}
    private = {name for name in old if _is_private(name)}
    found = nearest_callers(unit, list(old), lambda name, callee: _calls(old[name], callee), private, alike)
    units = dict.fromkeys(_unit(name) for name in found)
    return tuple(name for name in units if name != unit and subject_of(modules[0], name))


def _is_private(unit: str) -> bool:
    """Whether a function, a method or its class has a name that begins with an underscore, special methods aside."""
    return any(part.startswith("_") and not part.endswith("__") for part in unit.split("."))


def _functions(module: Module) -> dict[str, Function]:
    """The functions of a module, and the methods of its classes, by their qualified names."""
    return dict(_named(module.tree.body, ""))


def _named(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, Function]]:
    for node in body:
        if isinstance(node, Function):
            yield prefix + node.name, node
        elif isinstance(node, ast.ClassDef) and not prefix:
            yield from _named(node.body, f"{node.name}.")


def _calls(node: Function, unit: str) -> bool:
    """Whether a function names another one: a plain name, or an attribute if that is a method."""
    owner, _, callee = unit.rpartition(".")
    if owner and not owner.startswith("_"):
        return any(isinstance(each, ast.Attribute) and each.attr == callee for each in ast.walk(node))
    return any(isinstance(each, ast.Name) and each.id == (owner or callee) for each in ast.walk(node))


def _unit(name: str) -> str:
    """What is compared for a caller: a class, for what makes its objects."""
    owner, _, callee = name.rpartition(".")
    return owner if callee in _MAKES else name

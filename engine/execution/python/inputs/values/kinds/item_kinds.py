"""The kinds of the items of a parameter, by what loops do with them and with their parts."""

from __future__ import annotations

import ast
from collections.abc import Collection

from stet_ls.engine.execution.python.inputs.values.kinds.dates import by_difference, is_name
from stet_ls.engine.execution.python.inputs.values.kinds.kind_names import METHODS, named_kind


def kinds_of_items(target: ast.expr, node: ast.AST) -> list[str]:
    """The kinds that the methods called on a loop's variable imply."""
    name = getattr(target, "id", "")
    used = (each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute) and is_name(each.value, name))
    return list(dict.fromkeys(METHODS[each] for each in used if METHODS.get(each) == "str"))


def enumerated(node: ast.expr) -> ast.expr:
    """What is iterated over, be it with numbers."""
    is_numbered = isinstance(node, ast.Call) and getattr(node.func, "id", "") == "enumerate" and node.args
    return node.args[0] if is_numbered and isinstance(node, ast.Call) else node


def item_name(loop: ast.For | ast.comprehension) -> ast.expr:
    """The name of an item in a loop, without that of its number."""
    target = loop.target
    is_numbered = enumerated(loop.iter) is not loop.iter and isinstance(target, ast.Tuple)
    return target.elts[-1] if is_numbered and isinstance(target, ast.Tuple) else target


def items_of(loop: ast.For | ast.comprehension, name: str) -> ast.expr | None:
    """The name of an item of what a loop goes through, also with numbers or side by side with others; None if it does
    not go through what is called `name`.
    """
    inner, target = enumerated(loop.iter), item_name(loop)
    if is_name(inner, name):
        return target
    if not (isinstance(inner, ast.Call) and getattr(inner.func, "id", "") == "zip" and isinstance(target, ast.Tuple)):
        return None
    return next((part for part, given in zip(target.elts, inner.args, strict=False) if is_name(given, name)), None)


def is_row(target: ast.expr, node: ast.AST) -> bool:
    """Whether an item is iterated over itself."""
    return isinstance(target, ast.Name) and any(
        isinstance(each, ast.For | ast.comprehension) and is_name(enumerated(each.iter), target.id)
        and not isinstance(item_name(each), ast.Tuple) for each in ast.walk(node)
    )  # fmt: skip


def kinds_of_unpacked(target: ast.expr, node: ast.AST) -> list[str]:
    """The kind of items that a loop takes apart, by what it does with the parts: `for row, seat in taken`."""
    if not isinstance(target, ast.Tuple) or not all(isinstance(each, ast.Name) for each in target.elts):
        return []
    names = [each.id for each in target.elts if isinstance(each, ast.Name)]
    kinds = [_kind_of_part(name, node) for name in names]
    return [f"tuple[{', '.join(each or other for each in kinds)}]" for other in ("int", "Label")[: 2 - all(kinds)]]


def _kind_of_part(name: str, node: ast.AST) -> str:
    """The kind of a part of an item; "" if nothing tells it."""
    if is_index(name, node):
        return "Index"
    used = [METHODS[each.attr] for each in ast.walk(node)
            if isinstance(each, ast.Attribute) and is_name(each.value, name) and each.attr in METHODS]  # fmt: skip
    return next(iter([*used, *by_difference(name, node)]), named_kind(name).replace("Callable", ""))


def kinds_of_parts(node: ast.AST, parameters: Collection[str]) -> list[str]:
    """The kinds between which code distinguishes among the parts of what it is given: `isinstance(row[key], dict)`."""
    parts = {
        part.id for each in ast.walk(node) if isinstance(each, ast.For | ast.comprehension)
        for part in ast.walk(each.target) if isinstance(part, ast.Name)
    }  # fmt: skip
    parts |= {
        each.targets[0].id for each in ast.walk(node)
        if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name) and _is_part(each.value, ())
    }  # fmt: skip
    parts -= set(parameters)
    found: list[str] = []
    for each in ast.walk(node):
        if isinstance(each, ast.Call) and getattr(each.func, "id", "") == "isinstance" and len(each.args) == 2:
            kinds = [_KINDS.get(kind.id, "") for kind in ast.walk(each.args[1]) if isinstance(kind, ast.Name)]
            found += kinds if _is_part(each.args[0], parts) else []
        elif isinstance(each, ast.Compare) and isinstance(each.ops[0], ast.Is | ast.IsNot):
            right = each.comparators[0]
            if _is_part(each.left, parts) and isinstance(right, ast.Constant):
                found.append("None" if right.value is None else "bool")
    return [each for each in dict.fromkeys(found) if each]


_KINDS = {"str": "str", "int": "int", "float": "float", "bool": "bool", "list": "list[int]", "dict": "dict[Label, int]",
          "tuple": "tuple[int, int]", "bytes": "bytes"}  # fmt: skip


def _is_part(node: ast.expr, names: Collection[str]) -> bool:
    """Whether an expression is an item of something: one of the names, `row[key]` or `row.get(key)`."""
    if isinstance(node, ast.Call):
        return getattr(node.func, "attr", "") == "get"
    return isinstance(node, ast.Subscript) or (isinstance(node, ast.Name) and node.id in names)


def is_index(name: str, node: ast.AST) -> bool:
    """Whether a name is used as a subscript."""
    return any(isinstance(each, ast.Subscript) and is_name(each.slice, name) for each in ast.walk(node))

"""What the uses of a name say of dates: fields that are replaced, differences in days, what is compared with a date."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence

from stet_ls.engine.execution.python.inputs.values.kinds.kind_names import METHODS


def is_name(node: ast.AST, name: str) -> bool:
    """Whether a node is that name, with a sign before it or without."""
    node = node.operand if isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Not) else node
    return isinstance(node, ast.Name) and node.id == name


_OF_TIMES, _OF_DATES = {"hour", "minute", "second", "microsecond", "tzinfo"}, {"year", "month", "day"}


def replaced(call: ast.Call, names: set[str]) -> str:
    """The kind of one of the names if the call is `now.replace(hour=8)`; "" if it is another call."""
    words = {each.arg for each in call.keywords}
    held = call.func  # of a method
    if (
        not isinstance(held, ast.Attribute)
        or held.attr != "replace"
        or not any(is_name(held.value, one) for one in names)
    ):
        return ""
    return "datetime" if words & _OF_TIMES else "date" if words & _OF_DATES else ""


def by_compared(names: set[str], node: ast.AST) -> list[str]:
    """The kind of what is compared with one of the names, or subtracted, as its methods tell it: that of a date."""
    others = {
        other.id for each in ast.walk(node) if isinstance(each, ast.Compare | ast.BinOp)
        for sides in [[each.left, *(each.comparators if isinstance(each, ast.Compare) else [each.right])]]
        if any(isinstance(side, ast.Name) and side.id in names for side in sides)
        for other in sides if isinstance(other, ast.Name) and other.id not in names
    }  # fmt: skip
    used = (each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)
            and isinstance(each.value, ast.Name) and each.value.id in others)  # fmt: skip
    if any(METHODS.get(each) == "date" for each in used):
        return ["date"]
    kinds = (kind for other in sorted(others) for kind in _moved(other, node))
    return [kind for kind in [next(kinds, "")] if kind]


def _moved(name: str, node: ast.AST) -> list[str]:
    """The kind of a name that a `timedelta` is added to, or to what stands for it."""
    names = {name, *(each.targets[0].id for each in ast.walk(node) if isinstance(each, ast.Assign)
                     and isinstance(each.targets[0], ast.Name) and is_name(each.value, name))}  # fmt: skip
    sums = (each for each in ast.walk(node) if isinstance(each, ast.BinOp | ast.AugAssign))
    for each in sums:
        sides: list[ast.expr] = (
            [each.target, each.value] if isinstance(each, ast.AugAssign) else [each.left, each.right]
        )
        if any(isinstance(side, ast.Name) and side.id in names for side in sides) and any(map(_is_span, sides)):
            return ["date"]
    return []


def _is_span(node: ast.expr) -> bool:
    called = node.func if isinstance(node, ast.Call) else None
    return getattr(called, "attr", getattr(called, "id", "")) == "timedelta"


_SPANS = {"days": "date", "total_seconds": "datetime"}


def by_difference(name: str, node: ast.AST) -> list[str]:
    """The kind of a name of which a difference is asked for its days: `(today - due).days`."""
    for each in ast.walk(node):
        match each:
            case ast.Attribute(value=ast.BinOp(left=left, op=ast.Sub(), right=right), attr=asked) if asked in _SPANS:
                if is_name(left, name) or is_name(right, name):
                    return [_SPANS[asked]]
    return []


_BEGINS = re.compile(r"start|begin|arriv|from|open|since|first|check_?in|low|min|valid_from")
_ENDS = re.compile(r"end|finish|depart|to|until|clos|last|check_?out|high|max|valid_(?:to|until)")
_POINT = re.compile(r"__import__\('datetime'\)\.\w+\(([\d, ]+)\)")


def ends_of(names: Sequence[str]) -> tuple[str, str] | None:
    """The fields of a beginning and of an end, by their names."""
    first = next((each for each in names if _BEGINS.match(each)), "")
    last = next((each for each in names if each != first and _ENDS.match(each)), "")
    return (first, last) if first and last else None


def compares(tree: ast.AST, ends: tuple[str, str]) -> bool:
    """Whether code compares both fields of one object: then it decides what one means that ends before it begins."""
    for each in ast.walk(tree):
        if isinstance(each, ast.Compare) or (
            isinstance(each, ast.Call) and getattr(each.func, "id", "") in ("max", "min")
        ):
            fields = [(part.attr, ast.dump(part.value)) for part in ast.walk(each) if isinstance(part, ast.Attribute)]
            if any((ends[0], held) in fields for name, held in fields if name == ends[1]):
                return True
    return False


def in_order(row: Mapping[str, str], ends: tuple[str, str]) -> dict[str, str]:
    """The fields of an object, with the points in time of its beginning and its end in this order."""
    first, last = (_POINT.fullmatch(row.get(name, "")) for name in ends)
    if first is None or last is None or _parts(first) <= _parts(last):
        return dict(row)
    return {**row, ends[0]: row[ends[1]], ends[1]: row[ends[0]]}


def _parts(point: re.Match[str]) -> list[int]:
    return [int(each) for each in point[1].split(",")]

"""What the uses of a name say of dates: fields that are replaced, differences in days, what is compared with a date."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from stet_ls.engine.execution.python.inputs.values.kind_names import METHODS


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


def in_order(row: Mapping[str, str]) -> dict[str, str]:
    """The fields of an object, with the points in time of a beginning and an end, by their names, in this order."""
    points = {name: found for name, text in row.items() if (found := _POINT.fullmatch(text))}
    first = next((name for name in points if _BEGINS.match(name)), "")
    last = next((name for name in points if name != first and _ENDS.match(name)), "")
    if not first or not last or _parts(points[first]) <= _parts(points[last]):
        return dict(row)
    return {**row, first: row[last], last: row[first]}


def _parts(point: re.Match[str]) -> list[int]:
    return [int(each) for each in point[1].split(",")]

"""Tests of Python's version that have the same answer for every Python from 3.8 on."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator
from typing import Any

from stet_ls.engine.execution.python.equal_forms.scopes import UnitNames

_OPERATORS: dict[type[ast.cmpop], Callable[[Any, Any], object]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
    ast.Eq: operator.eq, ast.NotEq: operator.ne,
}  # fmt: skip
_FIRST, _END = 8, 40
_LARGEST = 30
"""The largest number in a test that the tried versions decide."""
_VERSIONS = tuple(
    (3, minor, micro, level, serial)
    for minor in range(_FIRST, _END) for micro in (0, 1, 2, 10, _LARGEST, 50)
    for level, serial in (("alpha", 1), ("candidate", 2), ("final", 0))
)  # fmt: skip
_MAJOR, _MINOR = {"major": 0}, {"minor": 1}


def version_answer(node: ast.expr, names: UnitNames) -> bool | None:
    """The answer of a test of the version, also of a name that the module binds once to one; None for any other."""
    match node:
        case ast.Name(id=name):
            value = names.value(name)
            return None if value is None else version_answer(value, names)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            answer = version_answer(operand, names)
            return None if answer is None else not answer
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _OPERATORS:
            answers = set(_answers(left, _OPERATORS[type(op)], right, names))
            return answers.pop() if len(answers) == 1 else None
    return None


def _answers(
    left: ast.expr, compare: Callable[[Any, Any], object], right: ast.expr, names: UnitNames
) -> Iterator[bool | None]:
    parts, limit, is_left = _part(left, names), _limit(right), True
    if parts is None:
        parts, limit, is_left = _part(right, names), _limit(left), False
    if parts is None or limit is None:
        return
    for version in _VERSIONS:
        part = parts(version)
        try:
            yield bool(compare(part, limit) if is_left else compare(limit, part))
        except TypeError:
            yield None


def _part(node: ast.expr, names: UnitNames) -> Callable[[tuple[object, ...]], Any] | None:
    """What an expression takes of `sys.version_info`."""
    match node:
        case ast.Attribute(value=value, attr="major" | "minor" as field) if _is_version(value, names):
            number = {**_MAJOR, **_MINOR}[field]
            return lambda version: version[number]
        case ast.Subscript(value=value, slice=ast.Constant(value=int(number))) if _is_version(value, names):
            return (lambda version: version[number]) if number in (0, 1) else None
        case ast.Subscript(
            value=value,
            slice=ast.Slice(lower=None | ast.Constant(value=0), upper=ast.Constant(value=int(end)), step=None),
        ) if _is_version(value, names):
            return lambda version: version[:end]
    return (lambda version: version) if _is_version(node, names) else None


def _is_version(node: ast.expr, names: UnitNames) -> bool:
    match node:
        case ast.Attribute(value=ast.Name(id=name), attr="version_info"):
            return names.origin(name) == "sys"
        case ast.Name(id=name):
            return names.origin(name) == "sys:version_info"
    return False


def _limit(node: ast.expr) -> object:
    """A number, or a tuple of numbers; None for anything else."""
    items = node.elts if isinstance(node, ast.Tuple) else [node]
    numbers = [each.value for each in items if isinstance(each, ast.Constant) and type(each.value) is int]
    if len(numbers) < len(items) or any(not 0 <= each <= _LARGEST for each in numbers):
        return None
    return tuple(numbers) if isinstance(node, ast.Tuple) else numbers[0]

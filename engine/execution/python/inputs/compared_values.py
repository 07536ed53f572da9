"""The numbers and texts that code compares with: the values at which it does something else."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import isqrt
from typing import TypeGuard

_MOST, _LONGEST = 12, 40
_LARGEST = 10**9
_DEEPEST = 5
"""Operations of a condition that are solved, and its variable: each `%` doubles the solutions."""
_TESTS = frozenset({"startswith", "endswith", "removeprefix", "removesuffix"})
_LOOKUPS = frozenset({"get", "pop", "index", "count"})


def compared_values(nodes: Sequence[ast.AST]) -> tuple[int | str | None, ...]:
    """The numbers and short texts on either side of a comparison in these, of each kind the first ones in order.

    None is one of them if the code asks whether something is None.
    """
    found = {value for node in nodes for each in ast.walk(node) for value in _of(each)}
    numbers = sorted(each for each in found if isinstance(each, int))[:_MOST]
    texts = sorted(each for each in found if isinstance(each, str))[:_MOST]
    return (
        *numbers,
        *texts,
        *((None,) if any(_asks_for_none(each) for node in nodes for each in ast.walk(node)) else ()),
    )


def compared_texts(node: ast.AST) -> tuple[str, ...]:
    """The texts among them, as literals."""
    return tuple(repr(each) for each in compared_values([node]) if isinstance(each, str))


def choices(node: ast.AST, constants: Mapping[str, ast.expr]) -> dict[str, tuple[str, ...]]:
    """By the name of a variable the values that code compares it with or looks it up under, as literals.

    A part of a record, as in `event["kind"] == "opened"`, goes by its key. `constants` are the values of names outside
    of the code: the keys of a table are such values, too.
    """
    found: dict[str, dict[str, None]] = {}

    def take(asked: ast.expr, held: ast.expr) -> None:
        name = asked.id if isinstance(asked, ast.Name) else _key_read(asked)
        if name:
            found.setdefault(name, {}).update(dict.fromkeys(_literals(held, constants)))

    for each in ast.walk(node):
        match each:
            case ast.Compare(left=left, comparators=[right]):
                take(left, right)
                take(right, left)
            case ast.Subscript(value=table, slice=key):
                take(key, table)
            case ast.Call(func=ast.Attribute(value=table, attr=attribute), args=[key, *_]) if attribute in _LOOKUPS:
                take(key, table)
            case ast.Match(subject=subject, cases=cases):
                for case in cases:
                    for part in ast.walk(case.pattern):
                        if isinstance(part, ast.MatchValue):
                            take(subject, part.value)
    return {name: tuple(values)[:_MOST] for name, values in found.items() if values}


def keys_read(node: ast.AST) -> frozenset[str]:
    """The keys that code reads by name: those of records."""
    return frozenset(key for each in ast.walk(node) if (key := _key_read(each)))


def _key_read(node: ast.AST) -> str:
    match node:
        case ast.Subscript(slice=ast.Constant(value=str(key))):
            return key
        case ast.Call(func=ast.Attribute(attr="get"), args=[ast.Constant(value=str(key)), *_]):
            return key
    return ""


def _literals(held: ast.expr, constants: Mapping[str, ast.expr]) -> Iterator[str]:
    """The plain values of an expression, of a container's items or of a table's keys."""
    name = held.attr if isinstance(held, ast.Attribute) else getattr(held, "id", "")
    held = constants.get(name, held)
    match held:
        case ast.Call(args=[inner, *_]):
            yield from _literals(inner, {})
        case ast.Dict(keys=keys):
            parts: Sequence[ast.expr | None] = keys
        case ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.Set(elts=elements):
            parts = elements
        case _:
            parts = [held]
    if isinstance(held, ast.Call):
        return
    yield from (repr(part.value) for part in parts if isinstance(part, ast.Constant) and _is_plain(part.value))


def _of(node: ast.AST) -> Iterator[int | str]:
    sides: list[ast.expr] = []
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        yield from _solutions(sides)
    elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in _TESTS:
        sides = list(node.args)
    elif isinstance(node, ast.MatchValue):
        sides = [node.value]
    for side in sides:
        for part in side.elts if isinstance(side, ast.Tuple | ast.List | ast.Set) else [side]:
            value = part.value if isinstance(part, ast.Constant) else None
            if _is_plain(value):
                yield value


def _solutions(sides: Sequence[ast.expr]) -> Iterator[int]:
    """Where a side computes with whole numbers and the other one is a number: what is computed with then."""
    for asked, held in (*pairwise(sides), *pairwise(sides[::-1])):
        if isinstance(asked, ast.BinOp) and isinstance(held, ast.Constant) and type(held.value) is int:
            yield from filter(_is_plain, _solved(asked, held.value, _DEEPEST))


def _solved(asked: ast.expr, value: int, deepest: int) -> Iterator[int]:
    """Values of the variable in an expression of a few operations, one after the other, as in `(n + 1) * 7`."""
    if deepest == 0:
        return
    match asked:
        case ast.BinOp(left=inner, op=operation, right=ast.Constant(value=int(by))):
            for each in _before(operation, value, by):
                yield from _solved(inner, each, deepest - 1)
        case ast.BinOp(left=ast.Constant(value=int(by)), op=ast.Add() | ast.Mult() as operation, right=inner):
            for each in _before(operation, value, by):
                yield from _solved(inner, each, deepest - 1)
        case ast.BinOp(left=ast.Constant(value=int(by)), op=ast.Sub(), right=inner):
            yield from _solved(inner, by - value, deepest - 1)
        case ast.Name() | ast.Attribute() | ast.Subscript():
            yield value


def _before(operation: ast.operator, value: int, by: int) -> Iterator[int]:
    """What the operation with `by` turns into `value`."""
    match operation:
        case ast.Add():
            yield value - by
        case ast.Sub():
            yield value + by
        case ast.Mult() if by and value % by == 0:
            yield value // by
        case ast.FloorDiv():
            yield value * by
        case ast.Mod() if abs(value) < abs(by):
            yield from (value, value + by)
        case ast.BitXor():
            yield value ^ by
        case ast.Pow() if by == 2 and value >= 0 and isqrt(value) ** 2 == value:
            yield isqrt(value)


def _asks_for_none(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Compare)
        and isinstance(node.ops[0], ast.Is | ast.IsNot)
        and isinstance(node.comparators[0], ast.Constant)
        and node.comparators[0].value is None
    )


def _is_plain(value: object) -> TypeGuard[int | str]:
    if isinstance(value, str):
        return 0 < len(value) <= _LONGEST
    return type(value) is int and abs(value) <= _LARGEST

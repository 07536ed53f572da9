"""The numbers and texts that code compares with: the values at which it does something else."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TypeGuard

_MOST, _LONGEST = 12, 40
_LARGEST = 10**9
_TESTS = frozenset({"startswith", "endswith", "removeprefix", "removesuffix"})


def compared_values(nodes: Sequence[ast.AST]) -> tuple[int | str, ...]:
    """The numbers and short texts on either side of a comparison in these, of each kind the first ones in order."""
    found = {value for node in nodes for each in ast.walk(node) for value in _of(each)}
    numbers = sorted(each for each in found if isinstance(each, int))[:_MOST]
    return (*numbers, *sorted(each for each in found if isinstance(each, str))[:_MOST])


def compared_texts(node: ast.AST) -> tuple[str, ...]:
    """The texts among them, as literals."""
    return tuple(repr(each) for each in compared_values([node]) if isinstance(each, str))


def _of(node: ast.AST) -> Iterator[int | str]:
    sides: list[ast.expr] = []
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
    elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in _TESTS:
        sides = list(node.args)
    elif isinstance(node, ast.MatchValue):
        sides = [node.value]
    for side in sides:
        for part in side.elts if isinstance(side, ast.Tuple | ast.List | ast.Set) else [side]:
            value = part.value if isinstance(part, ast.Constant) else None
            if _is_plain(value):
                yield value


def _is_plain(value: object) -> TypeGuard[int | str]:
    if isinstance(value, str):
        return 0 < len(value) <= _LONGEST
    return type(value) is int and abs(value) <= _LARGEST

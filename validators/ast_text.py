"""Python's syntax trees as text, including huge numbers.

`ast.unparse` and `ast.dump` write whole numbers in tens, and Python refuses that beyond some thousands of digits
(https://docs.python.org/3/library/stdtypes.html#int-max-str-digits), but reads them in hexadecimals.
"""

from __future__ import annotations

import ast
import copy


def unparse(node: ast.AST) -> str:
    """As `ast.unparse`; numbers too long for that in hexadecimals. ValueError for what no text stands for."""
    try:
        return ast.unparse(node)
    except ValueError:
        return ast.unparse(_Hexadecimal().visit(copy.deepcopy(node)))


def dump(node: ast.AST) -> str:
    """As `ast.dump`: equal for trees that mean the same."""
    try:
        return ast.dump(node)
    except ValueError:
        return ast.dump(_Hexadecimal().visit(copy.deepcopy(node)))


def in_digits(number: int) -> str:
    """A whole number as Python reads it."""
    try:
        return repr(number)
    except ValueError:
        return hex(number)


class _Hexadecimal(ast.NodeTransformer):
    """A name is written as it is."""

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        is_long = isinstance(node.value, int) and (text := in_digits(node.value)).startswith("0x")
        return ast.Name(text, ast.Load()) if is_long else node

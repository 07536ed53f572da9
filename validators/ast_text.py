"""Python's syntax trees as text, including huge numbers.

`ast.unparse` and `ast.dump` write whole numbers in tens, which Python refuses for some thousands of digits
(https://docs.python.org/3/library/stdtypes.html#int-max-str-digits), but it reads them as hexadecimals.
"""

from __future__ import annotations

import ast
import copy


def unparse(node: ast.AST) -> str:
    """Like `ast.unparse`; numbers too long for it become hexadecimals. ValueError for a tree without a text."""
    try:
        return ast.unparse(node)
    except ValueError:
        return ast.unparse(_Hexadecimal().visit(copy.deepcopy(node)))


def dump(node: ast.AST) -> str:
    """Like `ast.dump`: equal for trees of the same meaning."""
    try:
        return ast.dump(node)
    except ValueError:
        return ast.dump(_Hexadecimal().visit(copy.deepcopy(node)))


def in_digits(number: int) -> str:
    """An integer as Python reads it."""
    try:
        return repr(number)
    except ValueError:
        return hex(number)


class _Hexadecimal(ast.NodeTransformer):
    """Writes a name unchanged."""

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        is_long = isinstance(node.value, int) and (text := in_digits(node.value)).startswith("0x")
        return ast.Name(text, ast.Load()) if is_long else node

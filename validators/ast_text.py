"""Python's syntax trees from text and as text, including huge numbers; threads may parse side by side.

`ast.unparse` and `ast.dump` write whole numbers in tens, which Python refuses for some thousands of digits
(https://docs.python.org/3/library/stdtypes.html#int-max-str-digits), but it reads them as hexadecimals.
"""

from __future__ import annotations

import ast
import copy
import threading
from typing import Any

_PARSING = threading.Lock()
"""Two threads that parse at once confuse the depth that Python 3.11 counts: a SystemError for a right text.
Source: https://github.com/python/cpython/issues/106905."""


def parse_module(text: str | bytes) -> ast.Module:
    """Like `ast.parse`. SyntaxError, ValueError, RecursionError or MemoryError as there."""
    with _PARSING:
        return ast.parse(text)


def try_parse(text: str | bytes) -> ast.Module | None:
    """The tree of a text; None if it is not valid Python, or too large or too deep for its parser."""
    try:
        return parse_module(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def parse_expression(text: str) -> ast.Expression:
    """The tree of one expression. Errors like `parse_module`."""
    with _PARSING:
        return ast.parse(text, mode="eval")


def try_parse_expression(text: str) -> ast.expr | None:
    """The expression that a text is; None as for `try_parse`."""
    try:
        return parse_expression(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def literal_eval(text: str) -> Any:
    """Like `ast.literal_eval`, of a text."""
    return ast.literal_eval(parse_expression(text.lstrip(" \t")))


def is_literal_call(text: str) -> bool:
    """Whether a text calls a plain name, with literals alone as arguments."""
    call = try_parse_expression(text)
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        return False
    try:
        for each in (*call.args, *(keyword.value for keyword in call.keywords)):
            ast.literal_eval(each)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


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

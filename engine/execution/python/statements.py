"""The contents of a Python text: its statements, its names, its code without documentation."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from stet_ls.engine.execution.python.inputs.subject import Function
from stet_ls.validators.ast_text import dump, parse_module, try_parse

_WORD = re.compile(r"[^\W\d][\w$]*")


def without_documentation(text: str) -> str:
    """A text that is the same for all Python texts with the same code; the text itself if it is not valid Python."""
    try:
        tree = parse_module(text)
        for node in ast.walk(tree):
            if isinstance(node, Function | ast.ClassDef | ast.Module) and ast.get_docstring(node) is not None:
                node.body = node.body[1:]
        return dump(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text


def words(text: str) -> frozenset[str]:
    """All names in a text."""
    return frozenset(_WORD.findall(text))


def named_in(text: str) -> frozenset[str]:
    """The names that a Python text uses, without those in its comments and strings."""
    tree = try_parse(text)
    found = list(ast.walk(tree)) if tree else []
    return frozenset(
        each.id if isinstance(each, ast.Name) else each.attr
        for each in found
        if isinstance(each, ast.Name | ast.Attribute)
    )


def statements(node: ast.AST) -> Iterator[ast.stmt]:
    """A statement and those nested in it, in order, without those that do nothing."""
    if isinstance(node, ast.stmt) and not isinstance(node, ast.Global | ast.Nonlocal) and not is_text(node):
        yield node
    for each in ast.iter_child_nodes(node):
        if not isinstance(each, ast.expr):
            yield from statements(each)


def lazily_changed(old: ast.AST, new: ast.AST) -> list[ast.expr] | None:
    """The expressions that need not be evaluated and hold all that differs; None if anything else differs, too.

    They are the branches of `a if b else c`, the operands after the first in `a or b`, bodies of `lambda` and of
    comprehensions. Statements nested below these are ignored.
    """
    if type(old) is not type(new):
        return None
    found: list[ast.expr] = []
    for name, value in ast.iter_fields(new):
        before = getattr(old, name, None)
        ones, others = (each if isinstance(each, list) else [each] for each in (before, value))
        if any(isinstance(each, ast.stmt) for each in (*ones, *others)):
            continue
        if name == "values" and isinstance(new, ast.BoolOp) and len(ones) < len(others):
            ones = ones + [None] * (len(others) - len(ones))
        if len(ones) != len(others):
            return None
        for number, (one, other) in enumerate(zip(ones, others, strict=True)):
            if not isinstance(other, ast.AST):
                if one != other:
                    return None
                continue
            within = lazily_changed(one, other) if isinstance(one, ast.AST) else None
            if within is None:
                if not isinstance(other, ast.expr) or not _is_lazy(new, name, number):
                    return None
                within = [other]
            found += within
    return found


def _is_lazy(node: ast.AST, name: str, number: int) -> bool:
    """Whether a field of a node need not be evaluated with it."""
    match node:
        case ast.IfExp():
            return name != "test"
        case ast.BoolOp() | ast.Compare():
            return name in ("values", "comparators") and number > 0
        case ast.Lambda():
            return name == "body"
        case ast.Assert():
            return name == "msg"
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
            return name == "elt"
        case ast.DictComp():
            return name in ("key", "value")
        case ast.comprehension():
            return name == "ifs"
    return False


def head(node: ast.AST) -> str:
    """A statement without nested ones, as text: neither its position nor its comments count."""
    parts = [type(node).__name__]
    for _, value in ast.iter_fields(node):
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, ast.excepthandler | ast.match_case):
                parts.append(head(each))
            elif not isinstance(each, ast.stmt):
                parts.append(dump(each) if isinstance(each, ast.AST) else repr(each))
    return " ".join(parts)


def is_text(node: ast.AST) -> bool:
    """True for a docstring, or another string statement without effect."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)

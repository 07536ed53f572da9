"""Python's headers of functions: without type hints, and with each hint in one of its spellings."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import lru_cache

from stet_ls.validators.ast_text import parse_expression, try_parse, unparse


def untyped(header: str) -> str | None:
    """Python's header of a function without its type hints."""
    function = _function(header)
    if function is None:
        return None
    function.returns = None
    for each in ast.walk(function.args):
        if isinstance(each, ast.arg):
            each.annotation = None
    return unparse(function)


def one_spelling(header: str, text: str) -> str:
    """A header with its hints as `list[str] | None`, whether written so or as `Optional[List[str]]`.

    It stays as it is where the file's text gives one of these names another meaning.
    """
    function = _function(header)
    if function is None or not _TYPING_NAMES.isdisjoint(_own_names(text)):
        return header
    before = unparse(function)
    for each in ast.walk(function.args):
        if isinstance(each, ast.arg) and each.annotation is not None:
            each.annotation = _ONE_SPELLING.visit(each.annotation)
    if function.returns is not None:
        function.returns = _ONE_SPELLING.visit(function.returns)
    after = unparse(function)
    end = ":" if header.rstrip().endswith(":") else ""
    return header if after == before else after.removesuffix(":\n    pass") + end


def _function(header: str) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    tree = try_parse(f"{header.rstrip(':')}: pass")
    function = tree.body[0] if tree is not None and tree.body else None
    return function if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) else None


@lru_cache(maxsize=8)
def _own_names(text: str) -> frozenset[str]:
    """The names that a text defines, or imports from elsewhere than `typing`."""
    tree = try_parse(text)
    return frozenset(name for node in ast.walk(tree) for name in _bound(node)) if tree is not None else frozenset()


def _bound(node: ast.AST) -> list[str]:
    match node:
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.Name(id=name, ctx=ast.Store()):
            return [name]
        case ast.ImportFrom(module=module, names=names) if module not in _TYPE_MODULES:
            return [each.asname or each.name for each in names]
        case ast.ImportFrom(names=names) | ast.Import(names=names):
            # `from typing import Sequence as List`
            return [each.asname for each in names if each.asname and each.asname != each.name]
    return []


class _OneSpelling(ast.NodeTransformer):
    """Rewrites type hints to one of their spellings: `Optional[List[str]]` and `None | list[str]` are the same type."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        return self.visit(ast.Name(node.attr)) if unparse(node.value) in _TYPE_MODULES else node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name(node.id.lower()) if node.id in _BUILT_IN_TYPES else node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        node = ast.Subscript(self.visit(node.value), self.visit(node.slice))
        inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        match node.value:
            case ast.Name("Union"):
                return _union(inner)
            case ast.Name("Optional"):
                return _union([*inner, ast.Constant(None)])
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        return _union([self.visit(node.left), self.visit(node.right)]) if isinstance(node.op, ast.BitOr) else node


_TYPE_MODULES = frozenset({"typing", "collections.abc", "typing_extensions"})
_BUILT_IN_TYPES = frozenset({"List", "Dict", "Set", "FrozenSet", "Tuple", "Type"})
_TYPING_NAMES = _BUILT_IN_TYPES | {"Union", "Optional"}
_ONE_SPELLING = _OneSpelling()


def _union(members: Sequence[ast.expr]) -> ast.expr:
    """The union in the order of its members' names."""
    flat = [each for member in members for each in (_members(member))]
    texts = sorted({unparse(each) for each in flat})
    return parse_expression(" | ".join(texts)).body


def _members(member: ast.expr) -> list[ast.expr]:
    if isinstance(member, ast.BinOp) and isinstance(member.op, ast.BitOr):
        return [*_members(member.left), *_members(member.right)]
    return [member]

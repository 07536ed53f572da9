"""The specification for tests: the module with its signatures, without the code that the tests are to judge."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stet_ls.validators.ast_text import try_parse, unparse

Function = ast.FunctionDef | ast.AsyncFunctionDef
_KEPT = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def new_unit(before: str, after: str) -> str:
    """The first public function or class that a candidate added at the top level; "" if there is none."""
    known = {node.name for node in _units(try_parse(before))}
    fresh = [node.name for node in _units(try_parse(after)) if node.name not in known]
    return next((name for name in fresh if not name.startswith("_")), "")


def specification(before: str, after: str, unit: str) -> str | None:
    """The candidate `after` without bodies and without its own documentation; None if it does not hold `unit`.

    Docstrings, values and comments are those of the text `before`, which the user wrote: with a candidate's own
    documentation, the tests would repeat its mistakes.
    """
    tree, original = try_parse(after), try_parse(before)
    if tree is None or not any(node.name == unit.partition(".")[0] for node in _units(tree)):
        return None
    docs = dict(_documented(original)) if original is not None else {}
    statements = original.body if original is not None else []
    values = {unparse(node) for node in statements if isinstance(node, ast.Assign | ast.AnnAssign)}
    tree.body = [node for node in tree.body if isinstance(node, _KEPT) or unparse(node) in values]
    _strip(tree, docs, "")
    return unparse(ast.fix_missing_locations(tree)) + "\n"


def _strip(holder: ast.Module | ast.ClassDef, docs: dict[str, str], prefix: str) -> None:
    """Keeps only headers, fields and the user's docstrings."""
    for node in holder.body:
        if not isinstance(node, Function | ast.ClassDef):
            continue
        name = f"{prefix}{node.name}"
        doc: list[ast.stmt] = [ast.Expr(ast.Constant(docs[name]))] if name in docs else []
        if isinstance(node, ast.ClassDef):
            rest = node.body[1:] if ast.get_docstring(node) is not None else node.body
            node.body = [*doc, *rest] or [ast.Pass()]
            _strip(node, docs, f"{name}.")
        else:
            node.body = [*doc, ast.Expr(ast.Constant(...))]


def _documented(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, str]]:
    for node in getattr(tree, "body", ()):
        if isinstance(node, Function | ast.ClassDef):
            if (doc := ast.get_docstring(node)) is not None:
                yield f"{prefix}{node.name}", doc
            if isinstance(node, ast.ClassDef):
                yield from _documented(node, f"{prefix}{node.name}.")


def _units(tree: ast.Module | None) -> Iterator[Function | ast.ClassDef]:
    if tree is not None:
        yield from (node for node in tree.body if isinstance(node, Function | ast.ClassDef))

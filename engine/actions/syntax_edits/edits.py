"""All edits of a function, and the functions of a unit."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stet_ls.engine.actions.syntax_edits.edit import EditedFunction, SyntaxEdit
from stet_ls.engine.actions.syntax_edits.expressions import EXPRESSIONS
from stet_ls.engine.actions.syntax_edits.statements import STATEMENTS
from stet_ls.engine.execution.python.inputs.subject import Function


def edits_of(function: EditedFunction) -> Iterator[SyntaxEdit]:
    """Its edits, each once and none without an effect on the text."""
    known: set[tuple[object, ...]] = set()
    for node in function.nodes:
        for made in (*EXPRESSIONS, *STATEMENTS):
            for edit in made(function, node):
                if edit.splices not in known and any(
                    function.source.slice(each.span) != each.text for each in edit.splices
                ):
                    known.add(edit.splices)
                    yield edit


def functions_in(node: ast.AST) -> Iterator[Function]:
    """The outermost functions in a function, a class or a module: what they nest belongs to them."""
    if isinstance(node, Function):
        yield node
        return
    for child in ast.iter_child_nodes(node):
        yield from functions_in(child)

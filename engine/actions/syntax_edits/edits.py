"""All edits of a function, and the functions of a unit."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stet_ls.engine.actions.syntax_edits.edit import EditedFunction, SyntaxEdit
from stet_ls.engine.actions.syntax_edits.kinds import KINDS
from stet_ls.engine.actions.syntax_edits.script import EditedScript
from stet_ls.engine.execution.python.inputs.subject import Function
from stet_ls.validators.source import Source


def edits_of(function: EditedFunction) -> Iterator[SyntaxEdit]:
    """Its edits, each once and none without an effect on the text."""
    made = (edit for node in function.nodes for kind in KINDS for edit in kind.python(function, node))
    return _distinct(function.source, made)


def script_edits_of(function: EditedScript) -> Iterator[SyntaxEdit]:
    """The same for JavaScript and TypeScript."""
    made = (edit for node in function.nodes for kind in KINDS for edit in kind.script(function, node))
    return _distinct(function.source, made)


def _distinct(source: Source, edits: Iterator[SyntaxEdit]) -> Iterator[SyntaxEdit]:
    known: set[tuple[object, ...]] = set()
    for edit in edits:
        if edit.splices not in known and any(source.slice(each.span) != each.text for each in edit.splices):
            known.add(edit.splices)
            yield edit


def functions_in(node: ast.AST) -> Iterator[Function]:
    """The outermost functions in a function, a class or a module: what they nest belongs to them."""
    if isinstance(node, Function):
        yield node
        return
    for child in ast.iter_child_nodes(node):
        yield from functions_in(child)

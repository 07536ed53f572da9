"""Errors in what a function returns, whatever it computes: which of them a test notices is what its assertions say.

Errors in the code show that too little: `assertIn` notices most of those that `assertEqual` notices.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stet_ls.engine.actions.syntax_edits.edit import UNLIKELY, EditedFunction, SyntaxEdit
from stet_ls.engine.execution.python.inputs.subject import Function

_PARTS = "{0} if type(it) in (str, bytes, list, tuple) else dict([*it.items()]{1}) if type(it) is dict else it"
_WRONG = {
    "a result without its last item": _PARTS.format("it[:-1]", "[:-1]"),
    "a result without its first item": _PARTS.format("it[1:]", "[1:]"),
    "a result with its last item twice": "it + it[-1:] if type(it) in (str, bytes, list, tuple) else it",
    "a result that is 1 more": "it + 1 if type(it) in (int, float) else not it if type(it) is bool else it",
}
"""By the change in words: the wrong result `it`. A result of another kind stays, which no test notices."""


def wrong_results(function: EditedFunction) -> Iterator[SyntaxEdit]:
    """The edits that make a function return something else, where it returns a value."""
    for node in _returns(function.node):
        if node.value is not None and not isinstance(node.value, ast.Constant | ast.Yield | ast.YieldFrom):
            value = function.text(node.value)
            for change, wrong in _WRONG.items():
                yield function.replaced(node.value, f"(lambda it: {wrong})(({value}))", UNLIKELY, change, mutates=True)


def _returns(node: ast.AST) -> Iterator[ast.Return]:
    """The returns of a function itself: those of a function in it leave that one."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Return):
            yield child
        elif not isinstance(child, Function | ast.Lambda | ast.ClassDef):
            yield from _returns(child)

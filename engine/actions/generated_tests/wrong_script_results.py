"""Errors in what a function of JavaScript or TypeScript returns, whatever it computes: which of them a test notices is
what its assertions say.

Each mutant takes a run of the tests, so one is wrong for every kind of result; a result of another kind stays.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from stet_ls.engine.actions.syntax_edits.edit import UNLIKELY, SyntaxEdit
from stet_ls.engine.actions.syntax_edits.script import FUNCTIONS, EditedScript

if TYPE_CHECKING:
    import tree_sitter

_CLASSES = frozenset({"class_declaration", "class", "abstract_class_declaration"})
_LITERALS = frozenset({"number", "string", "true", "false", "null", "undefined"})
_PARTS = 'typeof it === "string" || Array.isArray(it) ? {}'
_FIELDS = "Object.getPrototypeOf(it ?? 0) === Object.prototype ? Object.fromEntries(Object.entries(it).slice({})) : it"
_WRONG = {
    "a result that is 1 more, negated or without its last item": (
        f'typeof it === "number" ? it + 1 : typeof it === "boolean" ? !it : {_PARTS.format("it.slice(0, -1)")}'
        f" : {_FIELDS.format('0, -1')}"
    ),
    "a result that is 1 less or without its first item": (
        f'typeof it === "number" ? it - 1 : {_PARTS.format("it.slice(1)")} : {_FIELDS.format("1")}'
    ),
    "a result that is a half more or has its last item twice": (
        f'typeof it === "number" ? it + 0.5 : {_PARTS.format("it.concat(it.slice(-1))")} : it'
    ),
}
"""By the change in words: the wrong result of the value `it`."""


def wrong_script_results(code: EditedScript, it: str) -> Iterator[SyntaxEdit]:
    """The edits that make a function return something else, where it returns a value; a promise keeps its promise. `it`
    are the parameters of a function that takes anything.
    """
    for change, wrong in _WRONG.items():
        for value in _values(code.node):
            text = f"({it} => it instanceof Promise ? it.then({it} => {wrong}) : {wrong})(({code.text(value)}))"
            yield code.replaced(value, text, UNLIKELY, change, mutates=True)


def _values(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """What the outermost functions in a node return."""
    if node.type in FUNCTIONS:
        body = node.child_by_field_name("body")
        if body is not None and node.type == "arrow_function" and body.type != "statement_block":
            yield from (each for each in [body] if each.type not in _LITERALS)
        elif body is not None:
            yield from _returned(body)
        return
    for child in node.named_children:
        yield from _values(child)


def _returned(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    for child in node.named_children:
        if child.type == "return_statement":
            yield from (each for each in child.named_children[:1] if each.type not in {*_LITERALS, "comment"})
        elif child.type not in FUNCTIONS and child.type not in _CLASSES:
            yield from _returned(child)

"""The candidates of a JavaScript or TypeScript search, and the module in which they take the place of functions.

Each function of the target begins with a switch: if its number is chosen, it evaluates a candidate's text in its own
scope instead. So the module, its tests and what they import are loaded once for all candidates.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from stet_ls.engine.actions.syntax_edits.edit import UNLIKELY, SyntaxEdit
from stet_ls.engine.actions.syntax_edits.edits import script_edits_of
from stet_ls.engine.actions.syntax_edits.script import FUNCTIONS, EditedScript, is_async
from stet_ls.engine.execution.javascript.inputs.subject import Module
from stet_ls.validators.source import Source, Span, Splice

if TYPE_CHECKING:
    import tree_sitter

_CHOSEN = "globalThis.__stet_at__ === {}"
_CODE = "eval(globalThis.__stet_code__)"


@dataclass(frozen=True, slots=True)
class ScriptFunction:
    """A function that edits change, and the unit that it belongs to."""

    edited: EditedScript
    unit: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """An edit of the function of this number, and the function after it as an expression."""

    edit: SyntaxEdit
    function: int
    code: str


def functions_within(source: Source, module: Module, span: Span) -> list[ScriptFunction]:
    """The outermost functions that a span touches."""
    found = []
    for node in _outermost(module.parsed.root):
        if Span(node.start_byte, node.end_byte).overlaps(span):
            names = [name for name, each in module.found.items() if each.node.id == node.id]
            unit = names[0] if names else ""
            doc = module.found[unit].unit.doc if unit else ""
            found.append(ScriptFunction(EditedScript(source, node, doc), unit))
    return found


def _outermost(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    if node.type in FUNCTIONS and node.child_by_field_name("body") is not None:
        yield node
        return
    for child in node.named_children:
        yield from _outermost(child)


def candidates(functions: list[ScriptFunction], plain: Source, span: Span, most: int) -> list[Candidate]:
    """The edits within a span, the likeliest first. `plain` is the text without types, with the same places."""
    made = [
        (number, edit)
        for number, each in enumerate(functions)
        for edit in script_edits_of(each.edited)
        if edit.cost < UNLIKELY and all(span.contains(splice.span) for splice in edit.splices)
    ]
    made.sort(key=lambda each: each[1].cost)
    shown = ((edit, number, _expression(functions[number].edited.node, plain, edit.splices)) for number, edit in made)
    return [Candidate(*each) for each in shown if each[2]][:most]


def _expression(node: tree_sitter.Node, plain: Source, splices: tuple[Splice, ...]) -> str:
    """The function with some splices as an expression, which takes over `this`, `arguments` and `super`."""
    body = node.child_by_field_name("body")
    ordered = sorted(splices, key=lambda each: each.span)
    if body is None or any(a.span.end > b.span.start for a, b in pairwise(ordered)):
        return ""
    if node.type == "arrow_function":
        return f"({_spliced(plain, Span(node.start_byte, node.end_byte), ordered)})"
    listed = node.child_by_field_name("parameters")
    given = _spliced(plain, Span(listed.start_byte, listed.end_byte), ordered) if listed is not None else "()"
    code = _spliced(plain, Span(body.start_byte, body.end_byte), ordered)
    waits = "async " if is_async(node) else ""
    return f"({waits}function* {given} {code})" if _generates(node) else f"({waits}{given} => {code})"


def _spliced(plain: Source, span: Span, splices: list[Splice]) -> str:
    data, at = b"", span.start
    for each in splices:
        if span.contains(each.span):
            data += plain.data[at : each.span.start] + each.text.encode("utf-8", "surrogatepass")
            at = each.span.end
    return (data + plain.data[at : span.end]).decode("utf-8", "surrogatepass")


def with_switches(functions: list[ScriptFunction], plain: Source) -> str:
    """The text in which each function can be exchanged."""
    splices: list[Splice] = []
    for number, each in enumerate(functions):
        node, chosen = each.edited.node, _CHOSEN.format(number)
        body = node.child_by_field_name("body")
        if body is None:
            continue
        if node.type == "arrow_function":
            head = f"((...stet) => {chosen} ? {_CODE}(...stet) : ("
            splices.append(Splice(Span(node.start_byte, node.start_byte), head))
            splices.append(Splice(Span(node.end_byte, node.end_byte), ")(...stet))"))
            continue
        name = node.child_by_field_name("name")
        run = f"return yield* {_CODE}.apply(this, arguments);" if _generates(node) else f"return {_CODE}(...arguments);"
        if name is not None and each.edited.text(name) == "constructor":
            run = f"{{ {_CODE}(...arguments); return; }}"
        splices.append(Splice(Span(body.start_byte + 1, body.start_byte + 1), f" if ({chosen}) {run}"))
    return plain.splice(splices).text


def _generates(node: tree_sitter.Node) -> bool:
    return any(each.type == "*" for each in node.children) or node.type.startswith("generator")

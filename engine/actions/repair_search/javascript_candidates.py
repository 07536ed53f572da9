"""The candidates of a JavaScript or TypeScript search, and the module in which they take the place of functions.

Each function of the target begins with a switch: if its number is chosen, it evaluates a candidate's text in its own
scope instead. So the module, its tests and what they import are loaded once for all candidates. Each statement notes
that it is executed: a candidate that changes none of these cannot help.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from stet_ls.engine.actions.syntax_edits.edit import UNLIKELY, SyntaxEdit
from stet_ls.engine.actions.syntax_edits.edits import script_edits_of
from stet_ls.engine.actions.syntax_edits.script import FUNCTIONS, STATEMENTS, EditedScript, is_async
from stet_ls.engine.execution.javascript.inputs.subject import Module
from stet_ls.validators.source import Source, Span, Splice

if TYPE_CHECKING:
    import tree_sitter

_CHOSEN = "globalThis.__stet_at__ === {}"
_CODE = "eval(globalThis.__stet_code__)({})"
_NOTED = "globalThis.__stet_ran__?.add({});"
_LOOPS = frozenset({"while_statement", "do_statement", "for_statement", "for_in_statement"})
_LISTS = frozenset({"statement_block", "switch_case", "switch_default"})


@dataclass(frozen=True, slots=True)
class ScriptFunction:
    """A function that edits change, and the unit that it belongs to."""

    edited: EditedScript
    unit: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """An edit of the function of this number, and the number of the statement that it changes; None if unknown."""

    edit: SyntaxEdit
    function: int
    statement: int | None


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


def has_markup(function: ScriptFunction) -> bool:
    """Whether a function has JSX, which cannot be evaluated."""
    return any(each.type.startswith("jsx_") for each in function.edited.nodes)


def candidates(functions: Sequence[ScriptFunction], span: Span, most: int) -> list[Candidate]:
    """The edits within a span, the likeliest first."""
    statements = _statements(functions)
    made = [
        (number, edit)
        for number, each in enumerate(functions)
        for edit in script_edits_of(each.edited)
        if edit.cost < UNLIKELY and all(span.contains(splice.span) for splice in edit.splices) and _is_disjoint(edit)
    ]
    made.sort(key=lambda each: each[1].cost)
    return [Candidate(edit, number, _statement(edit, statements)) for number, edit in made[:most]]


def _is_disjoint(edit: SyntaxEdit) -> bool:
    ordered = sorted(each.span for each in edit.splices)
    return all(first.end <= second.start for first, second in pairwise(ordered))


def _statement(edit: SyntaxEdit, statements: Sequence[Span]) -> int | None:
    """The innermost statement that holds all of an edit."""
    holding = [n for n, span in enumerate(statements) if all(span.contains(each.span) for each in edit.splices)]
    return min(holding, key=lambda n: statements[n].end - statements[n].start, default=None)


def _statements(functions: Sequence[ScriptFunction]) -> list[Span]:
    """The statements of functions that stand in a list of statements, where one more can be put."""
    nodes = (node for each in functions for node in each.edited.nodes if node.type in STATEMENTS)
    own = (node for node in nodes if node.parent is not None and node.parent.type in _LISTS and not _is_directive(node))
    return [Span(node.start_byte, node.end_byte) for node in own]


def _is_directive(node: tree_sitter.Node) -> bool:
    return node.type == "expression_statement" and bool(node.named_children) and node.named_children[0].type == "string"


Parts = tuple[str | tuple[int, int], ...]
"""A text, made of texts and of places in another one."""


def expression(function: ScriptFunction, outside: Sequence[str]) -> Parts:
    """The function as an expression that takes over `this`, `arguments` and `super`, and is given names of `outside`.

    Its places are those of the text.
    """
    node = function.edited.node
    body, listed = node.child_by_field_name("body"), node.child_by_field_name("parameters")
    assert body is not None
    head, whole = f"(({', '.join(outside)}) => (", (node.start_byte, node.end_byte)
    if node.type == "arrow_function":
        return (head, whole, "))")
    given: str | tuple[int, int] = (listed.start_byte, listed.end_byte) if listed is not None else "()"
    waits = "async " if is_async(node) else ""
    between = ("function* ", " ") if _generates(node) else ("", " => ")
    return (head + waits + between[0], given, between[1], (body.start_byte, body.end_byte), "))")


def loops(function: ScriptFunction) -> list[int]:
    """Where the bodies of its loops begin, if they are blocks."""
    nodes = (each for each in function.edited.nodes if each.type in _LOOPS)
    bodies = (each.child_by_field_name("body") for each in nodes)
    return [each.start_byte + 1 for each in bodies if each is not None and each.type == "statement_block"]


def imported_names(function: ScriptFunction, module: Module) -> tuple[str, ...]:
    """The names that a function uses and its module imports: a runner may give them other names when it loads it."""
    edited = function.edited
    statements = (node for node in module.parsed.root.named_children if node.type == "import_statement")
    imported = {name for node in statements for name in _bound(node)}
    used = dict.fromkeys(edited.text(each) for each in edited.nodes if each.type == "identifier")
    return tuple(name for name in used if name in imported and name not in edited.names)


def _bound(node: tree_sitter.Node) -> Iterator[str]:
    """The names that an import binds."""
    alias = node.child_by_field_name("alias") if node.type == "import_specifier" else None
    if node.type == "identifier" and node.text is not None:
        yield node.text.decode("utf-8", "surrogatepass")
    for child in [alias] if alias is not None else node.named_children:
        yield from _bound(child)


def with_switches(functions: Sequence[ScriptFunction], plain: Source, outside: Sequence[Sequence[str]]) -> str:
    """The text in which each function can be exchanged, and its statements are noted when they are executed."""
    splices: list[Splice] = []
    for number, each in enumerate(functions):
        code = _CODE.format(", ".join(outside[number]))
        splices += _switch(each.edited, _CHOSEN.format(number), code)
    splices += [Splice(Span(each.start, each.start), _NOTED.format(n)) for n, each in enumerate(_statements(functions))]
    return plain.splice(splices).text


def _switch(edited: EditedScript, chosen: str, code: str) -> Iterator[Splice]:
    node = edited.node
    body = node.child_by_field_name("body")
    if body is None:
        return
    if node.type == "arrow_function":
        yield Splice(Span(node.start_byte, node.start_byte), f"((...stet) => {chosen} ? {code}(...stet) : (")
        yield Splice(Span(node.end_byte, node.end_byte), ")(...stet))")
        return
    name = node.child_by_field_name("name")
    run = f"return yield* {code}.apply(this, arguments);" if _generates(node) else f"return {code}(...arguments);"
    if name is not None and edited.text(name) == "constructor":
        run = f"{{ {code}(...arguments); return; }}"
    yield Splice(Span(body.start_byte + 1, body.start_byte + 1), f" if ({chosen}) {run}")


def _generates(node: tree_sitter.Node) -> bool:
    return any(each.type == "*" for each in node.children) or node.type.startswith("generator")


def rows(found: Sequence[Candidate]) -> list[dict[str, Any]]:
    """Candidates as the program in the sandbox reads them."""
    return [
        {
            "function": each.function,
            "splices": [[it.span.start, it.span.end, it.text] for it in each.edit.splices],
            "statement": each.statement,
        }
        for each in found
    ]

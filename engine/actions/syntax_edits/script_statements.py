"""Edits of statements in JavaScript and TypeScript; `statements.py` has those of Python."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from stet_ls.engine.actions.syntax_edits.edit import SyntaxEdit, short_text
from stet_ls.engine.actions.syntax_edits.script import FUNCTIONS, EditedScript
from stet_ls.validators.source import Span, Splice

if TYPE_CHECKING:
    import tree_sitter

_EFFECTS = frozenset({"expression_statement", "break_statement", "continue_statement", "throw_statement"})
_REMOVED = _EFFECTS | {"if_statement", "return_statement"}
_OWNERS = frozenset({"for_statement", "for_in_statement", "while_statement", "if_statement", "else_clause"})
_SWAPPED = frozenset({"expression_statement", "lexical_declaration", "return_statement", "if_statement"})


def removals(of: EditedScript, node: tree_sitter.Node) -> Iterator[SyntaxEdit]:
    """A statement that is too much."""
    if node.type not in _REMOVED or (node.parent is not None and node.parent.type == "for_statement"
                                     and node.type == "expression_statement"):  # fmt: skip
        return
    words = f"removed `{of.text(node).splitlines()[0]}`"
    mutates = node.type in _EFFECTS
    in_block = node.parent is not None and node.parent.type == "statement_block" and _is_alone(of, node)
    span, text = (_whole_lines(of, node), "") if in_block else (of.span(node), ";")
    yield of.at(span, text, node, 2.5 if mutates else 3.5, words, mutates=mutates)


def returns(of: EditedScript, node: tree_sitter.Node) -> Iterator[SyntaxEdit]:
    """A return that is missing, or that returns something else."""
    if node.type == "return_statement" and node.named_children:
        value = node.named_children[0]
        yield of.replaced(value, "undefined", 4, "returns undefined", mutates=True)
        for name in of.names if value.type != "identifier" else ():
            yield of.replaced(value, name, 3)
    elif node.type == "return_statement":
        for name in of.names:
            yield of.replaced(node, f"return {name};", 2)
    elif node.type == "expression_statement" and node.named_children:
        yield of.replaced(node, f"return {of.text(node)}", 2)
    elif node.type == "statement_block" and node.parent is not None and node.parent.type in FUNCTIONS:
        last = node.named_children[-1] if node.named_children else None
        if last is not None and last.type not in ("return_statement", "throw_statement"):
            for name in of.names:
                yield of.at(Span(last.end_byte, last.end_byte), f"\n{_margin(of, last)}return {name};", last, 2,
                            f"added `return {name};`")  # fmt: skip
    elif node.type == "arrow_function" and (body := node.child_by_field_name("body")) is not None:
        inner = body.named_children if body.type == "statement_block" else []
        if len(inner) == 1 and inner[0].type == "expression_statement":
            yield of.replaced(body, of.text(inner[0]).rstrip(";"), 2)


def swaps(of: EditedScript, node: tree_sitter.Node) -> Iterator[SyntaxEdit]:
    """Two statements in the other order."""
    if node.type == "statement_block":
        for first, second in pairwise(node.named_children):
            if {first.type, second.type} <= _SWAPPED:
                yield of.swapped(first, second, 3)


def moves(of: EditedScript, node: tree_sitter.Node) -> Iterator[SyntaxEdit]:
    """A statement that stands one level off: the last of a block, or the first after one."""
    if node.type != "statement_block":
        return
    owner = node.parent
    while owner is not None and owner.type in ("else_clause",):
        owner = owner.parent
    if owner is None or owner.type not in _OWNERS or not node.named_children:
        return
    last, after = node.named_children[-1], owner.next_named_sibling
    if owner.parent is not None and owner.parent.type != "statement_block":
        return
    if len(node.named_children) > 1 and _is_alone(of, last):
        place = Span(owner.end_byte, owner.end_byte)
        splices = (Splice(_whole_lines(of, last), ""), Splice(place, f"\n{_margin(of, owner)}{of.text(last)}"))
        yield SyntaxEdit(splices, f"`{short_text(of.text(last))}` moved to another level", of.lines(last), 2)
    if after is not None and after.type in _SWAPPED and _is_alone(of, after):
        place = Span(last.end_byte, last.end_byte)
        splices = (Splice(place, f"\n{_margin(of, last)}{of.text(after)}"), Splice(_whole_lines(of, after), ""))
        lines = of.lines(last)[0], of.lines(after)[1]
        yield SyntaxEdit(splices, f"`{short_text(of.text(after))}` moved to another level", lines, 2)


def branches(of: EditedScript, node: tree_sitter.Node) -> Iterator[SyntaxEdit]:
    """Another way on: `break` and `continue`, `if` and `else if`, `of` and `in`."""
    if node.type == "break_statement":
        yield of.replaced(node, "continue;", 2)
    elif node.type == "continue_statement":
        yield of.replaced(node, "break;", 2)
    elif node.type == "if_statement" and node.parent is not None:
        before = node.prev_named_sibling
        if before is not None and before.type == "if_statement" and before.child_by_field_name("alternative") is None:
            yield of.at(Span(node.start_byte, node.start_byte), "else ", node, 2.5, "`if` became `else if`")
    elif node.type == "for_in_statement" and (operator := node.child_by_field_name("operator")) is not None:
        yield of.replaced(operator, "in" if operator.type == "of" else "of", 1.5)
    elif node.type == "switch_case" and node.next_named_sibling is not None and len(node.named_children) > 1:
        last = node.named_children[-1]
        if last.type not in ("break_statement", "return_statement"):
            place = Span(last.end_byte, last.end_byte)
            yield of.at(place, f"\n{_margin(of, last)}break;", node, 1.5, "added `break;`")


def defaults(of: EditedScript, node: tree_sitter.Node) -> Iterator[SyntaxEdit]:
    """An object or array as a default that all calls share: the default is copied."""
    if node.type not in ("required_parameter", "optional_parameter"):
        return
    value = node.child_by_field_name("value")
    if value is not None and value.type in ("identifier", "member_expression"):
        text = of.text(value)
        for copy in (f"{{ ...{text} }}", f"[...{text}]", f"structuredClone({text})"):
            yield of.replaced(value, copy, 1.5, f"`{text}` no longer shared by all calls")


def _margin(of: EditedScript, node: tree_sitter.Node) -> str:
    start = of.source.starts[node.start_point[0]]
    before = of.source.slice(Span(start, node.start_byte))
    return before[: len(before) - len(before.lstrip())]


def _is_alone(of: EditedScript, node: tree_sitter.Node) -> bool:
    """Whether nothing else stands on the lines of a statement."""
    start = of.source.starts[node.start_point[0]]
    rest = of.source.data[node.end_byte :].partition(b"\n")[0]
    return not of.source.slice(Span(start, node.start_byte)).strip() and not rest.strip()


def _whole_lines(of: EditedScript, node: tree_sitter.Node) -> Span:
    """A statement with its margin and the line break before it."""
    start = of.source.starts[node.start_point[0]]
    row = node.start_point[0]
    before = of.source.line_span(row - 1).end if row else start
    return Span(before, node.end_byte)

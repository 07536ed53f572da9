"""Finds the statements that differ between two JavaScript or TypeScript texts; types and layout do not count.

A place is anything that an input has to execute: a statement, a case of a switch, the value of an arrow function
without braces, the first value of an object's field.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from stet_ls.engine.execution.javascript.inputs.values.value_kinds import text_of
from stet_ls.validators.structure.bodies import is_directive

if TYPE_CHECKING:
    import tree_sitter

_MOST_STATEMENTS = 1000
"""If more differ, common statements are not searched."""
DECLARES = frozenset({
    "function_declaration", "generator_function_declaration", "class_declaration", "abstract_class_declaration",
    "method_definition", "enum_declaration",
})  # fmt: skip
"""Places that do nothing themselves."""
_STATEMENTS = DECLARES | {
    "expression_statement", "lexical_declaration", "variable_declaration", "if_statement", "for_statement",
    "for_in_statement", "while_statement", "do_statement", "try_statement", "switch_statement", "with_statement",
    "return_statement", "throw_statement", "break_statement", "continue_statement", "labeled_statement",
    "switch_case", "switch_default",
}  # fmt: skip
FUNCTIONS = frozenset({
    "function_declaration", "generator_function_declaration", "function_expression", "generator_function",
    "arrow_function", "method_definition",
})  # fmt: skip
_SILENT = frozenset({
    "comment", "type_annotation", "type_arguments", "type_parameters", "interface_declaration",
    "type_alias_declaration", "ambient_declaration", "accessibility_modifier", "override_modifier", "readonly",
    "asserts_annotation", "type_predicate_annotation", "opting_type_annotation", "implements_clause",
})  # fmt: skip
_TYPED = frozenset({"as_expression", "satisfies_expression", "non_null_expression"})
"""Of these, only the first part runs."""


@dataclass(frozen=True, slots=True)
class CoverageSite:
    """A place that an input has to execute, its parent, and whether it is in a function or runs for each object: the
    rest runs when the module is loaded.
    """

    node: tree_sitter.Node
    around: tree_sitter.Node | None
    in_function: bool


def differing_statements(root: tree_sitter.Node, other: tree_sitter.Node) -> list[tree_sitter.Node]:
    """The statements of a module that are not, in the same words, in the other text."""
    known = {each.text for each in other.named_children}
    return [each for each in root.named_children if each.text not in known]


def changed_places(old: Sequence[CoverageSite], new: Sequence[CoverageSite]) -> tuple[set[int], set[int]]:
    """The ids of the nodes of places on each side that the other side does not have."""
    left = {each.node.id for each in old}, {each.node.id for each in new}
    if max(len(old), len(new)) > _MOST_STATEMENTS:
        return left
    heads = [_head(each.node) for each in old], [_head(each.node) for each in new]
    for at, other, size in SequenceMatcher(None, *heads, autojunk=False).get_matching_blocks():
        left[0].difference_update(each.node.id for each in old[at : at + size])
        left[1].difference_update(each.node.id for each in new[other : other + size])
    return left


def places(node: tree_sitter.Node) -> Iterator[CoverageSite]:
    """The places in a statement of a module: the statement first, each place before those in it."""
    pending: list[tuple[tree_sitter.Node, tree_sitter.Node | None, bool]] = [(node, None, False)]
    while pending:
        each, around, in_function = pending.pop()
        if is_place(each, around):
            yield CoverageSite(each, around, in_function)
        within = in_function or each.type in FUNCTIONS or _is_each_objects(each)
        pending += [(inner, each, within) for inner in reversed(runtime_parts(each)) if inner.is_named]


def own_nodes(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """The nodes of a place without those of nested places, in order, with their unnamed leaves."""
    pending = [node]
    while pending:
        each = pending.pop()
        yield each
        pending += [inner for inner in reversed(runtime_parts(each)) if not is_place(inner, each)]


def runtime_parts(node: tree_sitter.Node) -> list[tree_sitter.Node]:
    """The parts of a node that matter when it runs."""
    inner = node.children[:1] if node.type in _TYPED else node.children
    return [each for each in inner if each.type not in _SILENT]


def is_place(node: tree_sitter.Node, around: tree_sitter.Node | None) -> bool:
    """Whether a node within `around` (None: in no other) runs as a unit or not at all."""
    if around is not None and (around.type == "arrow_function" or _is_each_objects(around)):
        field = "body" if around.type == "arrow_function" else "value"
        return node.type != "statement_block" and around.child_by_field_name(field) == node
    if node.type not in _STATEMENTS or is_directive(node):
        return False
    return around is None or around.type != "for_statement" or around.child_by_field_name("body") == node


def _is_each_objects(node: tree_sitter.Node) -> bool:
    """Whether it declares an instance field."""
    return node.type == "public_field_definition" and all(each.type != "static" for each in node.children)


def _head(node: tree_sitter.Node) -> str:
    """A place without nested ones, as text: an optional semicolon does not count."""
    counts = node.type == "for_statement"
    words = (each for each in own_nodes(node) if not each.children)
    return " ".join(text_of(each) for each in words if counts or each.type != ";")

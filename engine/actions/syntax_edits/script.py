"""A function of JavaScript or TypeScript, and what the tables need to know of it to make edits."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from stet_ls.engine.actions.syntax_edits.edit import EditedCode
from stet_ls.validators.source import Span

if TYPE_CHECKING:
    import tree_sitter

FUNCTIONS = frozenset({
    "function_declaration", "generator_function_declaration", "arrow_function", "function_expression",
    "generator_function", "method_definition",
})  # fmt: skip
STATEMENTS = frozenset({
    "expression_statement", "return_statement", "if_statement", "for_statement", "for_in_statement", "while_statement",
    "do_statement", "lexical_declaration", "variable_declaration", "break_statement", "continue_statement",
    "throw_statement", "try_statement", "switch_statement", "switch_case", "switch_default", "labeled_statement",
})  # fmt: skip
_NO_CODE = frozenset({
    "import_statement", "type_annotation", "interface_declaration", "type_alias_declaration", "decorator", "comment",
    "type_arguments", "type_parameters",
})  # fmt: skip
_QUOTED = re.compile(r"""(?<!\w)(["'`])((?:(?!\1)[^\\\n]){1,40})\1""")


@dataclass(frozen=True)
class EditedScript(EditedCode):
    """A function of a text, or the whole of one, with what its repairs are made of."""

    node: tree_sitter.Node
    doc: str = ""

    def span(self, node: tree_sitter.Node) -> Span:
        """Where a node stands."""
        return Span(node.start_byte, node.end_byte)

    def lines(self, node: tree_sitter.Node) -> tuple[int, int]:
        """The lines, from 1, of a node's statement."""
        while node.type not in STATEMENTS and node.parent is not None and node.id != self.node.id:
            node = node.parent
        return node.start_point[0] + 1, node.end_point[0] + 1

    @cached_property
    def nodes(self) -> tuple[tree_sitter.Node, ...]:
        """Its named nodes that run: without types, imports and comments."""
        return tuple(self._running(self.node))

    def _running(self, node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
        if node.type in _NO_CODE:
            return
        yield node
        for child in node.named_children:
            yield from self._running(child)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of its parameters and variables, in the order of their first use."""
        return tuple(dict.fromkeys(name for node in self.nodes for name in self._bound(node)))

    def _bound(self, node: tree_sitter.Node) -> Iterator[str]:
        place = {"required_parameter": "pattern", "optional_parameter": "pattern", "variable_declarator": "name",
                 "arrow_function": "parameter", "for_in_statement": "left"}.get(node.type)  # fmt: skip
        pattern = node.child_by_field_name(place) if place else None
        if pattern is not None:
            yield from (self.text(each) for each in self._running(pattern)
                        if each.type in ("identifier", "shorthand_property_identifier_pattern"))  # fmt: skip

    @cached_property
    def numbers(self) -> tuple[str, ...]:
        """Its numbers as they are written."""
        return tuple(dict.fromkeys(self.text(each) for each in self.nodes if each.type == "number"))

    @cached_property
    def strings(self) -> tuple[str, ...]:
        """Its texts with their quotes."""
        return tuple(dict.fromkeys(self.text(each) for each in self.nodes if each.type == "string"))

    @cached_property
    def words(self) -> tuple[str, ...]:
        """What its documentation quotes."""
        return tuple(dict.fromkeys(match[2] for match in _QUOTED.finditer(self.doc)))

    @cached_property
    def properties(self) -> dict[str, tuple[str, ...]]:
        """The properties that it uses, by the text of their object."""
        found: dict[str, dict[str, None]] = {}
        for each in self.nodes:
            owner, name = each.child_by_field_name("object"), each.child_by_field_name("property")
            if each.type == "member_expression" and owner is not None and name is not None:
                found.setdefault(self.text(owner), {})[self.text(name)] = None
        return {owner: tuple(names) for owner, names in found.items()}


def function_around(node: tree_sitter.Node) -> tree_sitter.Node | None:
    """The innermost function that holds a node."""
    above = node.parent
    while above is not None and above.type not in FUNCTIONS:
        above = above.parent
    return above


def is_async(node: tree_sitter.Node | None) -> bool:
    """Whether a function is asynchronous."""
    return node is not None and any(each.type == "async" for each in node.children)

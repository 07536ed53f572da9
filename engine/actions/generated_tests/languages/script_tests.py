"""Finds the tests of a JavaScript or TypeScript text: calls such as `test("name", () => {...})`, nested ones too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from stet_ls.validators.source import Source
from stet_ls.validators.structure.units import tree_of

if TYPE_CHECKING:
    import tree_sitter

    from stet_ls.validators.parsing.tree import Parsed

_CALLED = frozenset({"test", "it", "describe", "suite"})
"""What node, Jest, Vitest and Mocha call a test and a group of tests; `.only` or `.skip` may follow."""
_NAMES = frozenset({"string", "template_string"})


def named_tests(text: str, language: str) -> Mapping[str, str]:
    """The texts of tests and groups by their names, those of groups before them and dots between. Names that are
    computed are left out. Parses: not for an event loop.
    """
    parsed = tree_of(Source(text), language)
    return dict(_tests(parsed)) if parsed is not None else {}


def _tests(parsed: Parsed) -> Iterator[tuple[str, str]]:
    pending = [(parsed.root, "")]
    while pending:
        node, group = pending.pop()
        if name := _name(parsed, node):
            group = f"{group}.{name}" if group else name
            yield group, parsed.text(node)
        pending += [(child, group) for child in reversed(node.named_children)]


def _name(parsed: Parsed, node: tree_sitter.Node) -> str:
    """The name of the test that a node defines, "" if it defines none."""
    called, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if node.type != "call_expression" or called is None or given is None or len(given.named_children) < 2:
        return ""
    first = given.named_children[0]
    is_text = first.type in _NAMES and all(each.type == "string_fragment" for each in first.named_children)
    is_test = parsed.text(called).partition(".")[0] in _CALLED
    return parsed.text(first)[1:-1] if is_test and is_text else ""

"""The contents of a unit, and the head of a text: stubs, calls, imports."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from stet_ls.validators.language_table.row import NodeKinds
from stet_ls.validators.languages import NODE_KINDS, for_language
from stet_ls.validators.parsing.tree import Parsed
from stet_ls.validators.source import Source, Span
from stet_ls.validators.structure import heuristic_units
from stet_ls.validators.structure.units import Unit, body_of, captures, node_of, tree_of

if TYPE_CHECKING:
    import tree_sitter

# A statement that marks code still to be written.
_PLACEHOLDER = re.compile(
    r"""(?xi)
    pass | \.\.\. | return(\s+(None|nil|null|undefined))? ;? | ;
    | raise \s+ NotImplementedError \b .*
    | (return\s+)? (todo|unimplemented)!\s* [\(\[\{] .*
    | (todo|fatalError|error) \s* \( .* \)
    | throw \s+ (new\s+)? [\w.]* (NotImplemented | UnsupportedOperation) \w* \b .*
    | (throw \s+ (new\s+)? \w* Error | panic | raise | error | assert) \W+
      (not\W?(yet\W)?implemented | unimplemented | todo) \b .*
    """,
    re.DOTALL,
)
# Nodes that only hold the statements of a body.
_HOLDERS = frozenset({
    "statement_block", "statement_list", "statements", "block", "body_statement", "compound_statement",
    "arrow_expression_clause",
})  # fmt: skip
# Where imports may be below the root: include guards, namespaces.
_IMPORT_HOLDERS = re.compile(r"preproc_if|namespace_(declaration|definition)$|^declaration_list$|import_list")
_LAST_NAME = re.compile(r"([A-Za-z_$][\w$]*[!?]?)\s*(?:(?:::)?<[^()]*>|\[[^\]]*\])?\s*$")

_LONGEST_USE = 120
"""Bytes that identify the called or imported name; the arguments of a call may be a whole program."""


def imports(source: Source, language: str) -> tuple[Span, ...]:
    """The import statements at the top level (in include guards and namespaces too), without their line ends."""
    parsed = tree_of(source, language)
    if parsed is None:
        return heuristic_units.imports(source, language)
    shape = NODE_KINDS.get(parsed.language)
    return tuple(parsed.span(node) for node in _imports(parsed, shape, parsed.root)) if shape else ()


def _imports(parsed: Parsed, shape: NodeKinds, holder: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    for node in holder.named_children:
        if node.type in shape.imports or (shape.requires and shape.requires.match(parsed.text(node))):
            yield node
        elif _IMPORT_HOLDERS.search(node.type):
            yield from _imports(parsed, shape, node)


def is_stub(source: Source, language: str, unit: Unit) -> bool:
    """True for a function whose body still has to be written: empty, a docstring, or a placeholder.

    A class is never one (an exception's empty class is complete), nor is a declaration without a body.
    """
    parsed = tree_of(source, language)
    if parsed is None or unit.kind == "class":
        return False
    node = node_of(parsed, unit)
    body = body_of(node) if node else None
    if node is None or body is None:
        return node is not None and NODE_KINDS[parsed.language].bare_bodies and not node.has_error
    statements = list(_statements(body))
    if for_language(parsed.language).docstrings and statements and is_directive(statements[0]):
        del statements[0]
    return all(_PLACEHOLDER.fullmatch(parsed.text(statement).strip()) for statement in statements)


def _statements(body: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    if body.type not in _HOLDERS and not body.type.endswith("body"):
        yield body  # an arrow function's expression
        return
    for child in body.named_children:
        if child.type in _HOLDERS:
            yield from _statements(child)
        elif "comment" not in child.type:
            yield child


def is_directive(statement: tree_sitter.Node) -> bool:
    """Whether a statement of a script is a text alone, such as "use strict"."""
    return statement.type == "expression_statement" and [child.type for child in statement.named_children] == ["string"]


def calls(source: Source, language: str, unit: Unit) -> tuple[str, ...]:
    """The names that a unit calls, each once, in order; for `self.cache.get(x)` it is "get"."""
    parsed = tree_of(source, language)
    shape = NODE_KINDS.get(parsed.language) if parsed else None
    node = node_of(parsed, unit) if parsed else None
    if parsed is None or shape is None or node is None:
        return ()
    names: dict[str, None] = {}
    for call in captures(parsed, frozenset(shape.calls), node):
        if name := _called(parsed, call, shape):
            names[name] = None
    return tuple(names)


def _called(parsed: Parsed, call: tree_sitter.Node, shape: NodeKinds) -> str:
    field = shape.calls[call.type]
    called = call.child_by_field_name(field) if field else next(iter(call.named_children), None)
    match = _LAST_NAME.search(parsed.text(called)[-_LONGEST_USE:]) if called is not None else None
    return match[1] if match else ""


def uses(source: Source, language: str) -> tuple[str, ...]:
    """The calls and imports of a text at any depth: the start of each call (without blanks) and of each import."""
    parsed = tree_of(source, language)
    shape = NODE_KINDS.get(parsed.language) if parsed else None
    if parsed is None or shape is None:
        return ()
    found = []
    for node in captures(parsed, frozenset(shape.calls) | shape.imports):
        text = parsed.data[node.start_byte : min(node.end_byte, node.start_byte + _LONGEST_USE)].decode(
            "utf-8", "ignore"
        )
        found.append((" " if node.type in shape.imports else "").join(text.split()))
    return tuple(found)

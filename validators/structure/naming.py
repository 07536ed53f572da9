"""The name, the extent and the signature of a unit."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from stet_ls.validators.language_table.row import NodeKinds
from stet_ls.validators.parsing.tree import Parsed

if TYPE_CHECKING:
    import tree_sitter

# Fields of the nodes that give a name to a nameless function (a variable, a key, a field, an assignment).
_NAMING_FIELDS = ("name", "key", "property", "left", "pattern")
# Two-part names: Parser::parse, Module.run, object:method.
_SCOPED_FIELDS = (("scope", "name"), ("table", "field"), ("table", "method"), ("object", "property"), ("path", "name"))
# Declarations that may hold several things: a unit includes one only if it is alone there.
_LISTS = frozenset(
    {"lexical_declaration", "variable_declaration", "var_declaration", "type_declaration", "declaration"}
)
_ARGUMENTS = re.compile(r"[<\[(].*", re.DOTALL)
_WORD = re.compile(r"\w")
_KEYWORD_NAMES = {
    "init_declaration": "init",
    "deinit_declaration": "deinit",
    "secondary_constructor": "constructor",
    "companion_object": "companion",
    "indexer_declaration": "this",
}


def name_of(parsed: Parsed, shape: NodeKinds, node: tree_sitter.Node) -> tuple[list[str], str]:
    """The scope in a unit's own head (a Go receiver, `Parser::`), and its name, "" for a nameless one."""
    if node.type in shape.values:
        return [], _given_name(parsed, shape, node)
    if node.type in _KEYWORD_NAMES:
        return [], _KEYWORD_NAMES[node.type]
    named = node.child_by_field_name("name") or _declared(node)
    if named is None and (aliased := node.parent) and aliased.type == "type_definition":  # typedef struct {…} name;
        named = aliased.child_by_field_name("declarator")
    if named is None:
        named = node.child_by_field_name("type")  # Rust: impl Trait for Type
    *scope, name = _parts(parsed, named) if named else [""]
    if receiver := node.child_by_field_name("receiver"):
        scope = [_plain(re.split(r"[\s*]+", parsed.text(receiver).strip("() "))[-1])]
    return scope, name


def _declared(node: tree_sitter.Node) -> tree_sitter.Node | None:
    """The name at the heart of a C declarator: `*(*f)(int)`."""
    inner = node.child_by_field_name("declarator")
    while inner is not None:
        deeper = inner.child_by_field_name("declarator")
        if deeper is None and inner.type in ("reference_declarator", "parenthesized_declarator"):
            deeper = next(iter(inner.named_children), None)
        if deeper is None:
            return inner
        inner = deeper
    return None


def _given_name(parsed: Parsed, shape: NodeKinds, node: tree_sitter.Node) -> str:
    """The name that the context gives to a nameless function; never its own parameter's."""
    parent = node.parent
    while parent is not None and parent.type in shape.wrappers:
        if parent.type == "export_statement":
            return _plain(parsed.text(name)) if (name := node.child_by_field_name("name")) else "default"
        for field in _NAMING_FIELDS:
            if (named := parent.child_by_field_name(field)) and not _holds(named, node):
                return _parts(parsed, named)[-1]
        listed = next((child for child in parent.named_children if child.type == "variable_list"), None)
        if listed is not None:  # Lua
            return _parts(parsed, listed)[-1]
        parent = parent.parent
    return ""


def _parts(parsed: Parsed, node: tree_sitter.Node) -> list[str]:
    for scope_field, name_field in _SCOPED_FIELDS if node.child_count else ():
        scope, name = node.child_by_field_name(scope_field), node.child_by_field_name(name_field)
        if scope is not None and name is not None:
            return [*_parts(parsed, scope), *_parts(parsed, name)]
    return [" ".join(parsed.text(node).split()) if node.type == "operator_name" else _plain(parsed.text(node))]


def _plain(text: str) -> str:
    """A name without type arguments, quotes and marks; "" if it is not a name."""
    text = _ARGUMENTS.sub("", text).strip().strip("\"'`&*$ ")
    return text.split("::")[-1] if _WORD.search(text) else ""


def _holds(node: tree_sitter.Node, other: tree_sitter.Node) -> bool:
    return node.start_byte <= other.start_byte and other.end_byte <= node.end_byte


def outermost(shape: NodeKinds, node: tree_sitter.Node) -> tree_sitter.Node:
    """The widest parent that is still part of the unit: its decorators' node, its export, its declaration."""
    while (parent := node.parent) is not None and parent.type in shape.wrappers:
        alone = sum(child.type not in shape.leading and "comment" not in child.type for child in parent.named_children)
        if parent.type in _LISTS and alone > 1 and parent.child_by_field_name("declarator") is None:
            break
        node = parent
    return node


def signature(
    parsed: Parsed, shape: NodeKinds, outer: tree_sitter.Node, node: tree_sitter.Node, body: tree_sitter.Node | None
) -> str:
    """The head of a unit on one line, without decorators and the bracket or colon that opens its body."""
    start = next((child.start_byte for child in outer.children if child.type not in shape.leading), outer.start_byte)
    if outer.type == "decorated_definition":
        start = node.start_byte
    end = body.start_byte if body else node.end_byte
    end = min(
        [end, *(child.start_byte for child in node.children if "comment" in child.type and child.start_byte > start)]
    )
    text = parsed.data[start:end].decode("utf-8", "replace")
    return " ".join(text.split()).rstrip("{; ").removesuffix(":")

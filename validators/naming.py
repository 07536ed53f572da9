"""What a unit is called, where it begins, and what its signature and documentation say."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from stet_ls.validators.parse import Parsed
from stet_ls.validators.shapes import Shape

if TYPE_CHECKING:
    import tree_sitter

# Fields of the nodes that give a name to a nameless function (a variable, a key, a field, an assignment).
_NAMING_FIELDS = ("name", "key", "property", "left", "pattern")
# Two-part names: Parser::parse, Module.run, object:method.
_SCOPED_FIELDS = (("scope", "name"), ("table", "field"), ("table", "method"), ("object", "property"), ("path", "name"))
# Declarations that may hold several things: a unit takes one in only where it stands there alone.
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
_COMMENT_MARKS = re.compile(
    r"^[ \t]*(?:/\*[*!]?|\*/|\*(?!/)|//[/!]?|#|--+(?:\[\[)?)[ \t]?|(?<![ \t])[ \t]*(?:\*/|\]\])[ \t]*$",
    re.MULTILINE,
)
# A shebang is for the shell; what is asked of Stet is an instruction. Neither documents what happens to stand below.
_NO_DOCUMENTATION = re.compile(r"#!|\W*stet:", re.IGNORECASE)


def name_of(parsed: Parsed, shape: Shape, node: tree_sitter.Node) -> tuple[list[str], str]:
    """The scope that a unit's own head names (a Go receiver, `Parser::`), and its name, "" for a nameless one."""
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


def _given_name(parsed: Parsed, shape: Shape, node: tree_sitter.Node) -> str:
    """The name that the surroundings give to a nameless function; never its own parameter's."""
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
    """A name without type arguments, quotes and marks; "" for what is none."""
    text = _ARGUMENTS.sub("", text).strip().strip("\"'`&*$ ")
    return text.split("::")[-1] if _WORD.search(text) else ""


def _holds(node: tree_sitter.Node, other: tree_sitter.Node) -> bool:
    return node.start_byte <= other.start_byte and other.end_byte <= node.end_byte


def outermost(shape: Shape, node: tree_sitter.Node) -> tree_sitter.Node:
    """The widest parent that is still part of the unit: its decorators' node, its export, its declaration."""
    while (parent := node.parent) is not None and parent.type in shape.wrappers:
        alone = sum(child.type not in shape.leading and "comment" not in child.type for child in parent.named_children)
        if parent.type in _LISTS and alone > 1 and parent.child_by_field_name("declarator") is None:
            break
        node = parent
    return node


def leading(parsed: Parsed, shape: Shape, outer: tree_sitter.Node) -> tuple[tree_sitter.Node, str]:
    """The first node of a unit, with the decorators and doc comments directly above it, and what those comments say."""
    first = outer
    comments: list[str] = []
    while (above := _above(first)) is not None and _touches(parsed, above, first):
        text = parsed.text(above)
        if "comment" in above.type:
            if not shape.docs.match(text) or _NO_DOCUMENTATION.match(text) or not _starts_line(parsed, above):
                break
            comments.append(_COMMENT_MARKS.sub("", "\n".join(text.splitlines())).strip())
        elif above.type not in shape.leading:
            break
        first = above
    return first, "\n".join(reversed(comments)).strip()


def _above(node: tree_sitter.Node) -> tree_sitter.Node | None:
    """The sibling above; in Ruby the comment above a body's first method stands before the body."""
    parent = node.parent
    if node.prev_sibling is None and parent is not None and parent.start_byte == node.start_byte:
        return parent.prev_sibling
    return node.prev_sibling


def _touches(parsed: Parsed, above: tree_sitter.Node, below: tree_sitter.Node) -> bool:
    return parsed.data.count(b"\n", parsed.span(above).end, below.start_byte) <= 1


def _starts_line(parsed: Parsed, node: tree_sitter.Node) -> bool:
    line_start = parsed.data.rfind(b"\n", 0, node.start_byte) + 1
    return not parsed.data[line_start : node.start_byte].strip()


def signature(
    parsed: Parsed, shape: Shape, outer: tree_sitter.Node, node: tree_sitter.Node, body: tree_sitter.Node | None
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


def docstring(parsed: Parsed, body: tree_sitter.Node | None) -> str:
    """Python's docstring, without quotes and indentation; "" in other languages."""
    statement = body.named_children[0] if body and body.type == "block" and body.named_child_count else None
    if statement is None or statement.type != "expression_statement" or not statement.named_child_count:
        return ""
    string = statement.named_children[0]
    if string.type != "string":
        return ""
    text = "".join(parsed.text(child) for child in string.named_children if child.type == "string_content")
    return "\n".join(line.strip() for line in text.strip().splitlines())

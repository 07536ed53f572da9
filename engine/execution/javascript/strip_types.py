"""TypeScript as JavaScript: types become blanks, so that lines and columns stay. For projects without a builder.

The idea is that of `ts-blank-space` and of Node's own type stripping. What needs code in its place is not supported.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from stet_ls.validators.source import Source
from stet_ls.validators.structure.units import tree_of

if TYPE_CHECKING:
    import tree_sitter

_TYPES = frozenset({
    "type_annotation", "type_parameters", "type_arguments", "interface_declaration", "type_alias_declaration",
    "asserts_annotation", "type_predicate_annotation", "accessibility_modifier", "override_modifier",
    "implements_clause", "ambient_declaration", "function_signature", "method_signature", "abstract_method_signature",
    "index_signature", "omitting_type_annotation", "opting_type_annotation", "adding_type_annotation",
})  # fmt: skip
_NEEDS_CODE = frozenset({
    "enum_declaration", "internal_module", "module", "type_assertion", "import_alias", "import_require_clause",
    "decorator",
})  # fmt: skip
_MODIFIERS = frozenset({"readonly", "abstract", "declare"})
_VISIBLE = re.compile(rb"[^\s]")


def without_types(text: str, language: str) -> str | None:
    """The text without its types; None if it does not parse, or if types alone are not what has to go."""
    source = Source(text)
    parsed = tree_of(source, language)
    if parsed is None or parsed.root.has_error:
        return None
    data = bytearray(source.data)
    pending = [parsed.root]
    while pending:
        node = pending.pop()
        if node.type in _NEEDS_CODE or _is_parameter_property(node):
            return None
        blank = _blank(node)
        if blank is not None:
            data[blank[0] : blank[1]] = _VISIBLE.sub(b" ", bytes(data[blank[0] : blank[1]]))
        if blank != (node.start_byte, node.end_byte):
            pending += node.children
    return data.decode("utf-8", "surrogatepass")


def _blank(node: tree_sitter.Node) -> tuple[int, int] | None:
    """The bytes of a node that are types."""
    kind, around = node.type, node.parent
    if kind in _TYPES or (kind in _MODIFIERS and not node.is_named):
        return node.start_byte, node.end_byte
    if kind == "export_statement" and any(each.type in _TYPES or each.type == "type" for each in node.children):
        return node.start_byte, node.end_byte
    if kind in ("import_statement", "import_specifier", "export_specifier") and _is_of_type(node):
        return _with_comma(node)
    if kind in ("as_expression", "satisfies_expression"):
        return node.children[0].end_byte, node.end_byte
    if around is None:
        return None
    if kind == "!" and around.type in ("non_null_expression", "public_field_definition", "variable_declarator"):
        return node.start_byte, node.end_byte
    if kind == "?" and around.type in ("optional_parameter", "public_field_definition", "method_definition"):
        return node.start_byte, node.end_byte
    if kind == "required_parameter" and node.children[0].type == "this":
        return _with_comma(node)
    return None


def _is_of_type(node: tree_sitter.Node) -> bool:
    """Whether an import is one of types: `import type`, `{ type Row }`."""
    return any(each.type in ("type", "typeof") for each in node.children)


def _is_parameter_property(node: tree_sitter.Node) -> bool:
    marks = ("accessibility_modifier", "readonly", "override_modifier")
    return node.type in ("required_parameter", "optional_parameter") and any(
        each.type in marks for each in node.children
    )


def _with_comma(node: tree_sitter.Node) -> tuple[int, int]:
    after = node.next_sibling
    return node.start_byte, after.end_byte if after is not None and after.type == "," else node.end_byte

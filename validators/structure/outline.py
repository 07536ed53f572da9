"""Every symbol that a text declares, with its span, head and documentation, as in `stet check --json`.

Units (functions, methods, classes) come from `units`; this module adds their exact kind, and fields, constants, types
and namespaces. Local names of a function are not symbols.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stet_ls.validators.language_table.row import NodeKinds, SymbolKind
from stet_ls.validators.languages import NODE_KINDS
from stet_ls.validators.parsing.tree import Parsed
from stet_ls.validators.source import Source, Span
from stet_ls.validators.structure import documentation, heuristic_units
from stet_ls.validators.structure.units import Unit, UnitNode, captures, find, tree_of

if TYPE_CHECKING:
    import tree_sitter

_UNITS: dict[str, SymbolKind] = {
    "interface_declaration": "interface", "annotation_type_declaration": "interface", "trait_item": "interface",
    "protocol_declaration": "interface", "trait_declaration": "interface", "concept_definition": "interface",
    "interface_type": "interface", "struct_type": "struct", "struct_item": "struct", "struct_specifier": "struct",
    "struct_declaration": "struct", "union_item": "struct", "union_specifier": "struct", "enum_item": "enum",
    "enum_specifier": "enum", "enum_declaration": "enum", "type_alias_declaration": "type",
    "constructor_declaration": "constructor", "compact_constructor_declaration": "constructor",
    "secondary_constructor": "constructor", "init_declaration": "constructor", "property_declaration": "property",
    "indexer_declaration": "property", "module": "namespace",
}  # fmt: skip
_NAMED = ("name", "declarator", "left", "property")
_NAMES = frozenset({
    "identifier", "type_identifier", "field_identifier", "property_identifier", "private_property_identifier",
    "namespace_identifier", "nested_namespace_specifier", "qualified_name", "qualified_identifier", "string", "type",
    "nested_identifier",
})  # fmt: skip
_HOLDERS = frozenset({
    "expression_statement", "export_statement", "lexical_declaration", "variable_declaration", "const_declaration",
    "var_declaration", "ambient_declaration",
})  # fmt: skip
_LONGEST = 200


@dataclass(frozen=True, slots=True)
class Symbol:
    """Something that a text declares. `span` is the declaration with its documentation and decorators.

    `qualified` has the names of the classes and functions around it, with dots. `signature` is its head on one line;
    `doc` the span of its documentation, marks included; None if there is none.
    """

    kind: SymbolKind
    name: str
    qualified: str
    span: Span
    signature: str
    doc: Span | None = None


def outline(source: Source, language: str) -> tuple[Symbol, ...]:
    """All symbols in the order in which they start, outer ones first; none if nothing is recognized."""
    parsed = tree_of(source, language)
    if parsed is None:
        return tuple(_of_unit(unit.kind, unit) for unit in heuristic_units.units(source, language))
    shape = NODE_KINDS.get(parsed.language)
    if shape is None:
        return ()
    found = find(parsed)
    symbols = [_of_unit(_kind(one), one.unit) for one in found]
    symbols += _others(parsed, shape, found)
    return tuple(sorted(symbols, key=lambda symbol: (symbol.span.start, -symbol.span.end)))


def _kind(one: UnitNode) -> SymbolKind:
    kind = _UNITS.get(one.node.type)
    if one.node.type == "type_spec":  # Go
        given = one.node.child_by_field_name("type")
        kind = _UNITS.get(given.type, "type") if given else None
    return kind or one.unit.kind


def _of_unit(kind: SymbolKind, unit: Unit) -> Symbol:
    return Symbol(kind, unit.name, unit.qualified, unit.span, unit.signature, unit.doc_span)


def _others(parsed: Parsed, shape: NodeKinds, found: tuple[UnitNode, ...]) -> Iterator[Symbol]:
    kinds = shape.symbols
    units = {one.node.id for one in found}
    around: list[UnitNode] = []
    pending = iter(found)
    coming = next(pending, None)
    for node in captures(parsed, frozenset(kinds)) if kinds else ():
        while coming is not None and coming.node.start_byte <= node.start_byte:
            around.append(coming)
            coming = next(pending, None)
        while around and around[-1].node.end_byte <= node.start_byte:
            around.pop()
        inside = next((one for one in reversed(around) if node.end_byte <= one.node.end_byte), None)
        if node.id in units or (inside is not None and (inside.unit.kind != "class" or inside.node == node)):
            continue
        if not _is_value(node, units):
            yield from _declared(parsed, shape, node, kinds[node.type], inside)


def _is_value(node: tree_sitter.Node, units: set[int]) -> bool:
    """True for `const f = () => 1` and the like: the unit already has its name."""
    held = node.child_by_field_name("value") or node.child_by_field_name("right") or node.child_by_field_name("type")
    return held is not None and held.id in units


def _declared(
    parsed: Parsed, shape: NodeKinds, node: tree_sitter.Node, kind: SymbolKind, inside: UnitNode | None
) -> Iterator[Symbol]:
    outer = node
    while (parent := outer.parent) is not None and parent.type in _HOLDERS and parent.named_child_count == 1:
        outer = parent
    first, doc = documentation.leading(parsed, shape, outer)
    head = parsed.data[outer.start_byte : min(outer.end_byte, outer.start_byte + _LONGEST)].decode("utf-8", "ignore")
    for named, is_function in _names(node):
        name = parsed.text(named).strip("'\"")
        exact = _exact(kind, name, is_function, inside)
        qualified = f"{inside.unit.qualified}.{name}" if inside else name
        body = head.partition("{")[0] if exact in ("namespace", "method", "function") else head.partition("\n")[0]
        span = Span(first.start_byte, max(parsed.span(outer).end, first.start_byte))
        yield Symbol(exact, name, qualified, span, " ".join(body.split()).rstrip(",;"), doc.span)


def _exact(kind: SymbolKind, name: str, is_function: bool, inside: UnitNode | None) -> SymbolKind:
    if is_function and kind in ("variable", "field"):  # a C prototype
        return "method" if inside else "function"
    if kind == "variable" and inside is not None:
        kind = "field"
    return "constant" if kind in ("variable", "field") and name.isupper() and len(name) > 1 else kind


def _names(node: tree_sitter.Node) -> Iterator[tuple[tree_sitter.Node, bool]]:
    """The nodes of the names in a declaration, and whether each is a function's."""
    pending = [child for field in _NAMED for child in node.children_by_field_name(field)]
    if not pending:  # C# has its declarators a level deeper
        declarations = (child for child in node.named_children if child.type == "variable_declaration")
        pending = [child for each in declarations for child in each.named_children if "declarator" in child.type]
    for child in pending:
        inner: tree_sitter.Node | None = child
        is_function = False
        while inner is not None and inner.type not in _NAMES:
            is_function = is_function or inner.type == "function_declarator"
            inner = next(filter(None, map(inner.child_by_field_name, ("name", "declarator"))), None)
        if inner is not None:
            yield inner, is_function

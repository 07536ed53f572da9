"""The functions, methods and classes of a parsed text."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Literal

from stet_ls.validators.language_table.row import NodeKinds
from stet_ls.validators.languages import NODE_KINDS
from stet_ls.validators.parsing import grammars
from stet_ls.validators.parsing.parse import DeadlineError, parse
from stet_ls.validators.parsing.tree import Parsed
from stet_ls.validators.source import Source, Span
from stet_ls.validators.structure import documentation, naming

if TYPE_CHECKING:
    import tree_sitter

_DEADLINE = 2.0
_PER_BYTE = 4e-6
"""Minimum seconds per byte of a text: a file of two megabytes has units too."""
_TOO_SLOW: dict[tuple[Source, str], None] = {}
"""Texts that were not parsed in time: they are not tried again."""
_MOST_KEPT = 8
_SLICE = 200_000
_MOST_TOKENS = 1000
_BODY = re.compile(
    r"(?:^|_)(?:body|block)$|^(?:field_declaration_list|declaration_list|accessor_list|struct_type|interface_type)$"
)


@dataclass(frozen=True, slots=True)
class Unit:
    """A function, method or class.

    `span` runs from column 0 of its first line to the end of its last, without the line end; decorators, attributes,
    `export` and the doc comment directly above belong to it. `qualified` has the names of the units around it, with
    dots in every language ("Parser.parse_date"). `body` is the span of its statements or members, brackets included if
    the language has them; None for a declaration. `signature` is one line; `doc` is without its marks, which `doc_span`
    includes.
    """

    kind: Literal["function", "method", "class"]
    name: str
    qualified: str
    span: Span
    body: Span | None
    signature: str
    doc: str
    doc_span: Span | None = None


@dataclass(frozen=True, slots=True)
class UnitNode:
    """A unit and its nodes: `node` is the function or class itself, `outer` the widest wrapper that is part of it."""

    unit: Unit
    node: tree_sitter.Node
    starts_line: bool


def tree_of(source: Source, language: str) -> Parsed | None:
    """The parsed text, or None if there is no grammar or it took too long."""
    if (source, language) in _TOO_SLOW:
        return None
    try:
        return parse(source, language, deadline=max(_DEADLINE, _PER_BYTE * len(source.data)))
    except grammars.NoGrammarError:
        return None
    except DeadlineError:
        _TOO_SLOW[source, language] = None
        if len(_TOO_SLOW) > _MOST_KEPT:
            _TOO_SLOW.pop(next(iter(_TOO_SLOW)), None)
        return None


def node_of(parsed: Parsed, unit: Unit) -> tree_sitter.Node | None:
    """The node of a unit of exactly this text."""
    return _nodes(parsed).get(unit)


@lru_cache(maxsize=8)
def _nodes(parsed: Parsed) -> Mapping[Unit, tree_sitter.Node]:
    return {found.unit: found.node for found in find(parsed)}


def captures(parsed: Parsed, kinds: frozenset[str], node: tree_sitter.Node | None = None) -> list[tree_sitter.Node]:
    """The nodes of some kinds within `node`, in text order."""
    within = node or parsed.root
    query = _query(parsed.language, kinds)
    if query is None:
        return []
    found = _walked(within, kinds) if _is_scattered(within) else _queried(within, query)
    return sorted(found, key=lambda node: (node.start_byte, -node.end_byte))


def _queried(within: tree_sitter.Node, query: tree_sitter.Query) -> Iterable[tree_sitter.Node]:
    """Ten times as fast as a walk.

    A query holds the interpreter lock, so it runs slice by slice (a node that spans two is found twice). It cannot use
    a progress callback: in py-tree-sitter 0.26.1 that crashes the process.
    """
    from tree_sitter import QueryCursor

    found: dict[int, tree_sitter.Node] = {}
    for start in range(within.start_byte, within.end_byte, _SLICE):
        cursor = QueryCursor(query)
        cursor.set_byte_range(start, min(start + _SLICE, within.end_byte))
        found |= {node.id: node for node in cursor.captures(within).get("node", [])}
    return found.values()


def _walked(within: tree_sitter.Node, kinds: frozenset[str]) -> Iterable[tree_sitter.Node]:
    """The nodes that a walk finds until the deadline."""
    end = time.monotonic() + _DEADLINE
    pending = [within]
    while pending and time.monotonic() < end:
        node = pending.pop()
        if node.type in kinds:
            yield node
        pending += reversed(node.named_children)


def _is_scattered(within: tree_sitter.Node) -> bool:
    """True for garbage that became one error node with very many tokens: a query takes quadratic time."""
    pending = [within]
    while pending:
        node = pending.pop()
        if node.is_error and node.child_count > _MOST_TOKENS:
            return True
        if node.has_error:
            pending += node.children
    return False


@cache
def _query(language: str, kinds: frozenset[str]) -> tree_sitter.Query | None:
    from tree_sitter import Query

    grammar = grammars.grammar(language)
    known = sorted(kind for kind in kinds if grammar.id_for_node_kind(kind, True) is not None)
    return Query(grammar, "[" + " ".join(f"({kind})" for kind in known) + "] @node") if known else None


@lru_cache(maxsize=8)
def find(parsed: Parsed) -> tuple[UnitNode, ...]:
    """All units of a text, in the order in which they start. Cached for the last few texts."""
    shape = NODE_KINDS.get(parsed.language)
    if shape is None:
        return ()
    found: list[UnitNode] = []
    around: list[UnitNode] = []  # the units around the current node, outermost first
    for node in captures(parsed, shape.functions | shape.classes | shape.values):
        while around and around[-1].node.end_byte <= node.start_byte:
            around.pop()
        one = _unit(parsed, shape, node, around)
        if one:
            found.append(one)
            around.append(one)
    return tuple(found)


def _unit(parsed: Parsed, shape: NodeKinds, node: tree_sitter.Node, around: Sequence[UnitNode]) -> UnitNode | None:
    scope, name = naming.name_of(parsed, shape, node)
    body = body_of(node)
    if not name or (body is None and node.type.endswith("_specifier")):  # `struct point p;` only uses a struct
        return None
    outer = naming.outermost(shape, node)
    first, above = documentation.leading(parsed, shape, outer)
    inner = documentation.docstring(parsed, body)
    doc = inner if inner.text else above
    inside = around[-1].unit if around else None
    is_class = node.type in shape.classes or node.type == "class"
    is_method = bool(scope) or (inside is not None and inside.kind == "class")
    unit = Unit(
        kind="class" if is_class else "method" if is_method else "function",
        name=name,
        qualified=".".join([*([inside.qualified] if inside else []), *scope, name]),
        span=whole_lines(parsed.source, Span(first.start_byte, max(parsed.span(outer).end, first.start_byte))),
        body=parsed.span(body) if body else None,
        signature=naming.signature(parsed, shape, outer, node, body),
        doc=doc.text,
        doc_span=doc.span,
    )
    line = parsed.source.line_span(parsed.source.line_of(first.start_byte))
    return UnitNode(unit, node, not parsed.source.data[line.start : first.start_byte].strip())


def body_of(node: tree_sitter.Node) -> tree_sitter.Node | None:
    """The node that holds a unit's statements or members."""
    body = node.child_by_field_name("body")
    return body or next((child for child in reversed(node.named_children) if _BODY.search(child.type)), None)


def whole_lines(source: Source, span: Span) -> Span:
    """The lines that a span touches, without the last one's end."""
    end = min(span.end, len(source.data))
    start = min(span.start, end)
    return Span(source.starts[source.line_of(start)], source.line_span(source.line_of(end)).end)

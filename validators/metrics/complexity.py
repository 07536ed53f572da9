"""How complex each function is: paths, nesting, parameters, length. Counted on the tree, in one pass."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from stet_ls.validators.languages import NODE_KINDS
from stet_ls.validators.metrics.language_table import ControlFlow, language_row
from stet_ls.validators.parsing.tree import Parsed
from stet_ls.validators.source import Source, Span
from stet_ls.validators.structure.units import Unit, captures, find, tree_of

if TYPE_CHECKING:
    import tree_sitter

# The default branch. Python: a bare name matches everything.
_DEFAULT = re.compile(rb"default\b|else\b|_\s*=>|\*\s*\)|case\s+(?!(?:None|True|False)\b)[^\W\d]\w*\s*:")
_ELSE = frozenset({"else", "else_clause", "else_statement"})


@dataclass(frozen=True, slots=True)
class Complexity:
    """The measures of one function. `length` is in lines, with its head and without what is above it.

    `cyclomatic`: the independent paths (McCabe 1976); Python's as ruff's C901 counts them, with the functions inside;
    elsewhere logical operators count too, as lizard does. `cognitive`: the reader's effort, which grows with nesting
    (Campbell 2018). `nesting`: the deepest level of conditions, loops, switches and tries.
    """

    unit: Unit
    line: int
    length: int
    cyclomatic: int
    cognitive: int
    nesting: int
    parameters: int


def measure(source: Source, language: str) -> tuple[Complexity, ...] | None:
    """The functions and methods of a text in order; None for a language that is not parsed or has no row."""
    parsed = tree_of(source, language)
    row = language_row(parsed.language) if parsed else None
    if parsed is None or row is None:
        return None
    counter = _Counter(parsed, row.control)
    for node in captures(
        parsed,
        frozenset(row.control.roles) | NODE_KINDS[parsed.language].functions | NODE_KINDS[parsed.language].values,
    ):
        counter.see(node)
    return tuple(tally.result(parsed) for tally in counter.tallies)


class _Tally:
    """One function during counting."""

    def __init__(self, unit: Unit, node: tree_sitter.Node) -> None:
        self.unit, self.node = unit, node
        self.cyclomatic, self.cognitive, self.nesting = 1, 0, 0

    def result(self, parsed: Parsed) -> Complexity:
        span = parsed.span(self.node)
        first, last = (parsed.source.line_of(at) for at in (span.start, span.end))
        parameters = _parameters(parsed, self.node, method=self.unit.kind == "method")
        return Complexity(self.unit, first, last - first + 1, self.cyclomatic, self.cognitive, self.nesting, parameters)


@dataclass(frozen=True, slots=True)
class _Frame:
    """A node around the current one. `depth` counts for nesting, `weight` for the cognitive measure."""

    end: int
    tally: _Tally | None
    depth: int
    weight: int
    operator: str = ""


@dataclass(frozen=True, slots=True)
class _Effect:
    """What a node adds: paths, whether nesting makes it harder to read, and what its content gets."""

    cyclomatic: int = 0
    nested: bool = False
    depth: int = 0
    weight: int = 0


EFFECTS: Mapping[str, _Effect] = {
    "ifs": _Effect(1, nested=True, depth=1, weight=1),
    "elifs": _Effect(1),
    "guards": _Effect(1, nested=True),
    "loops": _Effect(1, nested=True, depth=1, weight=1),
    "endless": _Effect(0, nested=True, depth=1, weight=1),
    "ternaries": _Effect(1, nested=True, weight=1),
    "switches": _Effect(0, nested=True, depth=1, weight=1),
    "cases": _Effect(1),
    "catches": _Effect(1, nested=True, weight=1),
    "tries": _Effect(0, depth=1),
    "closures": _Effect(weight=1),
    "logic": _Effect(1),
}
"""By the fields of `ControlFlow`."""


class _Counter:
    """Walks the interesting nodes of a text in order, with a stack of those around the current one."""

    def __init__(self, parsed: Parsed, row: ControlFlow) -> None:
        self.tallies: list[_Tally] = []
        self._row, self._roles = row, row.roles
        self._as_ruff = row.as_ruff
        self._data = parsed.data
        self._units = {found.node.id: found for found in find(parsed) if found.unit.kind != "class"}
        self._stack: list[_Frame] = []

    def see(self, node: tree_sitter.Node) -> None:
        while self._stack and self._stack[-1].end <= node.start_byte:
            self._stack.pop()
        top = self._stack[-1] if self._stack else _Frame(0, None, 0, 0)
        if (found := self._units.get(node.id)) is not None:
            self._enter(_Tally(found.unit, node), top, node)
        elif top.tally is not None and node.type in self._roles:
            self._inside(node, top)

    def _enter(self, tally: _Tally, top: _Frame, node: tree_sitter.Node) -> None:
        self.tallies.append(tally)
        if self._as_ruff:
            self._add(1, 0)  # C901: a function in a function is a path of the outer one
        self._stack.append(_Frame(node.end_byte, tally, 0, top.weight + 1 if top.tally else 0))

    def _inside(self, node: tree_sitter.Node, top: _Frame) -> None:
        role = self._roles[node.type]
        effect, operator = EFFECTS[role], ""
        match role:
            case "ifs" if (before := node.prev_sibling) is not None and before.type == "else":
                effect = EFFECTS["elifs"]
            case "cases" if _DEFAULT.match(self._data, node.start_byte):
                effect = _Effect()
            case "tries" if self._as_ruff and any(child.type == "else_clause" for child in node.named_children):
                effect = replace(effect, cyclomatic=1)  # C901 counts the `else` of a try
            case "logic":
                operator = self._operator(node)
                if not operator:
                    effect = _Effect()
        if role in ("ternaries", "logic") and self._as_ruff:
            effect = replace(effect, cyclomatic=0)  # C901 counts statements only
        cognitive = (1 + top.weight) if effect.nested else 0
        if role in ("ifs", "elifs"):
            cognitive += sum(child.type in _ELSE for child in node.children) + (role == "elifs")
        elif operator and operator != top.operator:
            cognitive += 1
        self._add(effect.cyclomatic, cognitive)
        frame = _Frame(node.end_byte, top.tally, top.depth + effect.depth, top.weight + effect.weight, operator)
        if frame.tally is not None:
            frame.tally.nesting = max(frame.tally.nesting, frame.depth)
        self._stack.append(frame)

    def _add(self, cyclomatic: int, cognitive: int) -> None:
        """Counts for the innermost function; for all around it too if C901 does."""
        seen: _Tally | None = None
        for frame in reversed(self._stack):
            if frame.tally is None or frame.tally is seen:
                continue
            seen = frame.tally
            seen.cyclomatic += cyclomatic
            seen.cognitive += cognitive
            if not self._as_ruff:
                return

    def _operator(self, node: tree_sitter.Node) -> str:
        """The logical operator of a node, "" if it has another one."""
        operators = self._row.logic[node.type]
        named = node.child_by_field_name("operator")
        if named is not None:
            return named.type if named.type in operators else ""
        return next((child.type for child in node.children if child.type in operators), "")


# Nodes among the parameters that are not parameters.
_NO_PARAMETER = frozenset({
    "comment", "line_comment", "block_comment", "self_parameter", "receiver_parameter", "keyword_separator",
    "positional_separator", "attribute_item", "modifiers", "parameter_modifiers", "array_type",
})  # fmt: skip
_SELF = frozenset({"self", "cls"})


def _parameters(parsed: Parsed, node: tree_sitter.Node, *, method: bool) -> int:
    holder = _parameter_list(node)
    if holder is None:
        # Swift has no list; a lone JavaScript parameter has no brackets.
        single = node.child_by_field_name("parameter")
        return sum(child.type == "parameter" for child in node.named_children) or int(single is not None)
    count = 0
    for index, child in enumerate(child for child in holder.named_children if child.type not in _NO_PARAMETER):
        text = parsed.data[child.start_byte : min(child.end_byte, child.start_byte + 8)].decode("utf-8", "replace")
        if (index == 0 and text == "void") or (index == 0 and method and text.split(":")[0].strip() in _SELF):
            continue
        count += max(1, len(child.children_by_field_name("name"))) if child.type == "parameter_declaration" else 1
    return count


def _parameter_list(node: tree_sitter.Node) -> tree_sitter.Node | None:
    inner: tree_sitter.Node | None = node
    while inner is not None:  # C has the list in the declarator
        if (found := inner.child_by_field_name("parameters")) is not None:
            return found
        inner = inner.child_by_field_name("declarator")
    return next((child for child in node.named_children if child.type == "function_value_parameters"), None)


def functions_in(measured: tuple[Complexity, ...], span: Span) -> tuple[Complexity, ...]:
    """The functions that a span touches, without those that merely contain it."""
    return tuple(one for one in measured if span.contains(one.unit.span) or _is_innermost(one, measured, span))


def _is_innermost(one: Complexity, measured: tuple[Complexity, ...], span: Span) -> bool:
    holding = [other for other in measured if other.unit.span.contains(span)]
    return bool(holding) and one is min(holding, key=lambda other: other.unit.span.end - other.unit.span.start)

"""Probes for JavaScript and TypeScript, as in `python/probes.py`: the texts with probes inserted between the words.

Only the code that a probe wraps is rewritten, so that a builder otherwise finds the same text. A probe is a call of
`name.ran(n)`, `name.cond(n, n, value)` or `name.tie(n, one, other)`, defined in `inside/probes.mjs`.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from stet_ls.engine.execution.javascript.changed_statements import (
    DECLARES,
    FUNCTIONS,
    CoverageSite,
    changed_places,
    differing_statements,
    is_place,
    own_nodes,
    places,
    runtime_parts,
)
from stet_ls.engine.execution.javascript.inputs.constants import constants
from stet_ls.engine.execution.javascript.inputs.subject import Module, read_module
from stet_ls.engine.execution.javascript.inputs.values.value_kinds import part_of, text_of
from stet_ls.engine.execution.probe import Probe, ProbedText, ProbeEvent

if TYPE_CHECKING:
    import tree_sitter

_SHOWN = 70
_ORDERS = {"<": "strict", ">": "strict", "<=": "loose", ">=": "loose"}
_SHORT = frozenset({"&&", "||", "??", "&&=", "||=", "??="})
_LOOPS = frozenset({"for_statement", "for_in_statement", "while_statement", "do_statement"})
_ASKS = frozenset({"if_statement", "while_statement", "do_statement", "for_statement", "ternary_expression"})
_DEFAULTS = frozenset({"required_parameter", "optional_parameter"})
_PATTERNS = frozenset({"assignment_pattern", "object_assignment_pattern"})
_LISTS = frozenset({"program", "statement_block", "switch_case", "switch_default", "class_static_block"})
_FIXED = frozenset({"true", "false", "number", "string", "null", "empty_statement"})
_PICKS = frozenset({"filter", "some", "every", "find", "findIndex", "findLast", "findLastIndex"})
"""Methods that use their function's result as a condition."""


def probed(before: str, after: str, language: str, *, numbered: bool = True) -> tuple[ProbedText, ProbedText] | None:
    """Both texts with probes in the changed parts; None if no part can have one. Not for an event loop.

    Not `numbered`: the texts are not the user's, and their line numbers mean nothing.
    """
    read = (read_module(text, language) for text in (before, after))
    modules = [each for each in read if each is not None and not each.parsed.root.has_error]
    if len(modules) < 2:
        return None
    roots = [each.parsed.root for each in modules]
    nodes = differing_statements(roots[0], roots[1]), differing_statements(roots[1], roots[0])
    found = [[place for node in side for place in places(node)] for side in nodes]
    ids = changed_places(found[0], found[1])
    ties = _ties(*([each.node for each in side if each.node.id in own] for side, own in zip(found, ids, strict=True)))
    name = f"__came_{secrets.token_hex(8)}__"
    sides = []
    for module, side, own, tops, is_old in zip(modules, found, ids, nodes, (True, False), strict=True):
        prober = _Prober(module, name, own, ties, is_old=is_old, numbered=numbered)
        literals = tuple(dict.fromkeys(text for node in tops for text in constants(module, node)))
        sides.append(ProbedText(prober.written(side), name, tuple(prober.probes), literals))
    return (sides[0], sides[1]) if sides[0].probes or sides[1].probes else None


def _ties(old: Iterable[tree_sitter.Node], new: Iterable[tree_sitter.Node]) -> set[str]:
    """Comparisons for order that only one side has: equal operands may count on one side and not on the other."""
    first, second = (
        {_words(each): each for node in side for each in own_nodes(node) if _order(each)} for side in (old, new)
    )
    kinds = [Counter(_ORDERS[_order(each)] for each in side.values()) for side in (first, second)]
    return set(first) ^ set(second) if kinds[0] != kinds[1] else set()


def _order(node: tree_sitter.Node) -> str:
    """The operator (`<` and the like), if a node is such a comparison."""
    operator = _operator(node) if node.type == "binary_expression" else ""
    return operator if operator in _ORDERS else ""


def _operator(node: tree_sitter.Node) -> str:
    return text_of(part_of(node, "operator"))


def _words(node: tree_sitter.Node) -> str:
    return " ".join(text_of(node).split())


class _Prober:
    """Inserts probes into changed places of a module, only within functions."""

    def __init__(
        self, module: Module, name: str, ids: set[int], ties: set[str], *, is_old: bool, numbered: bool
    ) -> None:
        self._data = module.parsed.data
        self._lines = self._data.decode("utf-8", "replace").split("\n")
        self._name, self._ids, self._ties, self._is_old, self._numbered = name, set(ids), ties, is_old, numbered
        self._put: list[tuple[int, int, int, int, str, int]] = []
        self.probes: list[Probe] = []

    def written(self, found: Sequence[CoverageSite]) -> str:
        """The text with its probes."""
        for place in found:
            if place.node.id in self._ids:
                self._ask(place)
        parts, at = [], 0
        for start, *_, text, end in sorted(self._put):
            parts += [self._data[at:start], text.encode()]
            at = end
        return b"".join([*parts, self._data[at:]]).decode("utf-8", "surrogatepass")

    def _ask(self, place: CoverageSite) -> None:
        """Inserts all probes of a changed place. Parts that it passes on or repeats are probed like changed ones."""
        node = place.node
        if place.in_function and node.type not in DECLARES:
            self._ran(place)
            for each in _handed(node):
                self._ids.add(each.id)
                if each.type == "statement_block":  # without statements
                    self._point(each.start_byte + 1, self._call("ran", each, ProbeEvent.RAN) + ";")
        pending = [(node, place.in_function)]
        while pending:
            each, in_function = pending.pop()
            if in_function:
                self._conditions(each)
            within = in_function or each.type in FUNCTIONS
            pending += [(inner, within) for inner in reversed(runtime_parts(each)) if not is_place(inner, each)]

    def _conditions(self, node: tree_sitter.Node) -> None:
        if node.type in _ASKS and (condition := node.child_by_field_name("condition")) is not None:
            self._both_ways(_bare(condition))
        elif node.type in ("binary_expression", "augmented_assignment_expression") and _operator(node) in _SHORT:
            self._before_value(ProbeEvent.REST, node.child_by_field_name("right"))
        elif node.type in _DEFAULTS:
            self._before_value(ProbeEvent.RAN, node.child_by_field_name("value"))
        elif node.type in _PATTERNS:
            self._before_value(ProbeEvent.RAN, node.child_by_field_name("right"))
        elif _order(node) and _words(node) in self._ties:
            self._tie(node)

    def _ran(self, place: CoverageSite) -> None:
        node, around = place.node, place.around
        if around is not None and around.type in ("arrow_function", "public_field_definition"):
            self._before_value(ProbeEvent.RAN, node)
            if _is_picking(around):
                self._both_ways(node)
            return
        mark = self._call("ran", node, ProbeEvent.RAN) + ";"
        while around is not None and around.type == "labeled_statement":
            node, around = around, around.parent
        if node.type in ("switch_case", "switch_default"):
            body = node.children_by_field_name("body")
            self._point(body[0].start_byte if body else node.end_byte, mark)
        elif around is None or around.type in _LISTS:
            self._point(node.start_byte, mark)
        else:
            self._wrap(node, "{" + mark, "}")

    def _before_value(self, need: ProbeEvent, node: tree_sitter.Node | None) -> None:
        if node is not None:
            self._wrap(node, f"({self._call('ran', node, need)}, ", ")")

    def _both_ways(self, node: tree_sitter.Node) -> None:
        if node.type not in _FIXED:
            self._wrap(node, f"{self._call('cond', node, ProbeEvent.TRUE, ProbeEvent.FALSE)[:-1]}, (", "))")

    def _tie(self, node: tree_sitter.Node) -> None:
        """Probes a comparison; each side is evaluated once, as before, and outside of the probe's function."""
        operator = node.child_by_field_name("operator")
        if operator is not None:
            looked = f"{self._call('tie', node, ProbeEvent.TIE)[:-1]}, one, other)"
            self._wrap(node, f"((one, other) => ({looked}, one {text_of(operator)} other))(", ")")
            self._put.append((operator.start_byte, 1, 0, 0, ",", operator.end_byte))

    def _call(self, what: str, node: tree_sitter.Node, *needs: ProbeEvent) -> str:
        row = node.start_point[0]
        text = self._lines[row].strip()
        text = text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
        numbers = range(len(self.probes), len(self.probes) + len(needs))
        self.probes += [Probe(need, row + 1 if self._numbered else 0, text, self._is_old) for need in needs]
        return f"{self._name}.{what}({', '.join(map(str, numbers))})"

    # An end comes before a beginning at the same position; of two beginnings, the one that ends later comes first.

    def _wrap(self, node: tree_sitter.Node, lead: str, trail: str) -> None:
        start, end, order = node.start_byte, node.end_byte, len(self._put)
        self._put.append((start, 1, -end, order, lead, start))
        self._put.append((end, 0, -start, -order, trail, end))

    def _point(self, at: int, text: str) -> None:
        self._put.append((at, 1, -len(self._data) - 1, len(self._put), text, at))


def _handed(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """The first places of a loop, of a catch block, and of functions that a statement creates."""
    for each in own_nodes(node):
        is_block = each.type in FUNCTIONS or each.type == "catch_clause" or (each is node and each.type in _LOOPS)
        if is_block and (body := each.child_by_field_name("body")) is not None:
            inner = (within for within in body.named_children if is_place(within, body))
            yield body if body.type != "statement_block" else next(inner, body)


def _bare(node: tree_sitter.Node) -> tree_sitter.Node:
    """The condition of an `if` or a `for` without the surrounding syntax."""
    inner = [each for each in node.named_children if each.type != "comment"]
    return inner[0] if node.type in ("parenthesized_expression", "expression_statement") and len(inner) == 1 else node


def _is_picking(function: tree_sitter.Node) -> bool:
    """Whether an arrow function is passed to one of _PICKS."""
    call = function.parent.parent if function.parent is not None and function.parent.type == "arguments" else None
    return text_of(part_of(part_of(call, "function"), "property")) in _PICKS

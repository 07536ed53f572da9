"""Probes in the changed places that an input has to execute before equality proves anything about them.

Probes are calls of a function that records their number. A text with probes runs in addition to the comparison, which
does not use it. A statement that the change added, altered or removed has to run; its conditions have to evaluate both
ways and completely; an operand that was only added or dropped has to evaluate both ways itself; the sides of a `<` in
place of `<=` have to be equal. Code that runs when a module is loaded counts as run.
"""

from __future__ import annotations

import ast
import re
import secrets
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, TypeGuard

from stet_ls.engine.execution.inputs.mutations import text_of
from stet_ls.engine.execution.probe import Probe, ProbedText, ProbeEvent
from stet_ls.engine.execution.python.changed_statements import ComparedText, changed_statements
from stet_ls.engine.execution.python.inputs.subject import Function
from stet_ls.validators.ast_text import dump, unparse

_SHOWN = 70
_LINE_END = re.compile(r"\r\n|\r|\n")
_ORDERS = {ast.Lt: "strict", ast.Gt: "strict", ast.LtE: "loose", ast.GtE: "loose"}


def probed(before: str, after: str, *, numbered: bool = True) -> tuple[ProbedText, ProbedText] | None:
    """Both texts with probes in the changed parts; None if no part can have one. Not for an event loop.

    Not `numbered`: the texts are not the user's, and their line numbers mean nothing.
    """
    try:
        texts = ComparedText.both(before, after)
        nodes = texts[0].differing(texts[1]), texts[1].differing(texts[0])
        changed = changed_statements(*texts, nodes)
        ties, extra = _ties(*changed), _extra_operands(*changed)
        name = f"__came_{secrets.token_hex(8)}__"
        old, new = (
            _Prober(name, places, ties, extra, text.is_fixed, _lines(written), is_old, numbered)
            for text, places, written, is_old in zip(texts, changed, (before, after), (True, False), strict=True)
        )
        both = _with_probes(before, nodes[0], old), _with_probes(after, nodes[1], new)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # not every f-string can be unparsed
        return None
    return both if both[0].probes or both[1].probes else None


def _lines(text: str) -> list[str]:
    """The lines as Python's own parser counts them."""
    return _LINE_END.split(text)


def _ties(old: Collection[ast.stmt], new: Collection[ast.stmt]) -> set[str]:
    """Comparisons for order that only one side has: equal operands may count on one side and not on the other."""
    first, second = ({dump(each): each for node in side for each in _compared(node)} for side in (old, new))
    kinds = [Counter(_ORDERS[type(each.ops[0])] for each in side.values()) for side in (first, second)]
    if kinds[0] == kinds[1]:
        return set()
    # Where one side does not compare at all, nothing was exchanged: only limits that are written there matter.
    sides = {**first, **second}
    settled = {_operands(each.test) for each in (*old, *new) if _settles(each)}
    return {
        key for key in set(first) ^ set(second)
        if (all(kinds) or _has_limit(sides[key])) and _operands(sides[key]) not in settled
    }  # fmt: skip


def _extra_operands(old: Collection[ast.stmt], new: Collection[ast.stmt]) -> set[ast.expr]:
    """The operands of conditions that one side has besides all of the other's: only their own value differs."""
    sides = [{dump(each): each for node in side for each in _tested(node)} for side in (old, new)]
    first, second = (set(side) for side in sides)
    if not first or not second or not (first < second or second < first):
        return set()
    return {side[key] for side in sides for key in first ^ second if key in side}


def _tested(node: ast.AST) -> Iterator[ast.expr]:
    """The operands of the conditions of a statement, without those of statements in it."""
    for each in ast.iter_child_nodes(node):
        if isinstance(each, ast.stmt | ast.excepthandler | ast.match_case):
            continue
        if isinstance(node, ast.If | ast.While | ast.IfExp) and each is node.test:
            yield from _leaves(node.test)
        elif isinstance(node, ast.comprehension) and each in node.ifs:
            yield from _leaves(each)
        yield from _tested(each)


def _leaves(test: ast.AST) -> Iterator[ast.expr]:
    if isinstance(test, ast.BoolOp):
        for each in test.values:
            yield from _leaves(each)
    elif isinstance(test, ast.expr):
        yield test


def _settles(node: ast.stmt) -> TypeGuard[ast.If]:
    """Whether what comes after a condition is not executed for equal operands: `if a == b: return`, or an `elif`; or
    what is in it, as for `if a != b`.
    """
    if not (isinstance(node, ast.If) and isinstance(node.test, ast.Compare)):
        return False
    if len(node.test.ops) != 1 or not isinstance(node.test.ops[0], ast.Eq | ast.NotEq):
        return False
    if isinstance(node.test.ops[0], ast.NotEq):
        inner = (each for part in node.body for each in ast.walk(part) if isinstance(each, ast.Compare))
        return any(_operands(each) == _operands(node.test) for each in inner)
    return bool(node.orelse) or isinstance(node.body[-1], ast.Return | ast.Raise | ast.Continue | ast.Break)


def _operands(node: ast.expr) -> frozenset[str]:
    return frozenset(map(dump, (node.left, *node.comparators))) if isinstance(node, ast.Compare) else frozenset()


def _has_limit(node: ast.Compare) -> bool:
    return any(isinstance(each, ast.Constant) for each in (node.left, *node.comparators))


def _compared(node: ast.AST) -> Iterator[ast.Compare]:
    for each in ast.iter_child_nodes(node):
        if not isinstance(each, ast.stmt | ast.excepthandler | ast.match_case):
            if isinstance(each, ast.Compare) and len(each.ops) == 1 and type(each.ops[0]) in _ORDERS:
                yield each
            yield from _compared(each)


def _literals(nodes: Sequence[ast.stmt]) -> tuple[str, ...]:
    """The constants in some statements as texts, without documentation."""
    texts = {id(each.value) for node in nodes for each in ast.walk(node) if isinstance(each, ast.Expr)}
    found = (each for node in nodes for each in ast.walk(node) if isinstance(each, ast.Constant))
    return tuple(dict.fromkeys(text_of(each.value) for each in found if id(each) not in texts))


def _with_probes(text: str, nodes: Sequence[ast.stmt], prober: _Prober) -> ProbedText:
    lines, literals = _lines(text), _literals(nodes)
    written = [(node, "\n".join(map(unparse, prober.visit(node)))) for node in nodes]
    for node, code in reversed(written):
        first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
        lines[first - 1 : node.end_lineno] = [code]
    return ProbedText("\n".join(lines), prober.name, tuple(prober.probes), literals)


class _Prober(ast.NodeTransformer):
    """Inserts probes into changed statements, only within functions."""

    def __init__(
        self,
        name: str,
        changed: set[ast.stmt],
        ties: set[str],
        extra: set[ast.expr],
        is_fixed: Callable[[ast.expr], bool],
        lines: list[str],
        is_old: bool,
        numbered: bool,
    ) -> None:
        self.name, self.changed, self.ties, self.extra, self.lines = name, changed, ties, extra, lines
        self.is_fixed, self.is_old, self.numbered = is_fixed, is_old, numbered
        self.probes: list[Probe] = []
        self.asked = self.in_function = False

    def visit(self, node: ast.AST) -> Any:
        """A statement as the list of its replacements, any other node with its probes."""
        if not isinstance(node, ast.stmt):
            return super().visit(node)
        outer = self.asked, self.in_function
        is_changed = node in self.changed and self.in_function
        self.asked = is_changed and not isinstance(node, Function | ast.ClassDef)
        own = [self._came(ProbeEvent.RAN, node)] if is_changed else []
        if self.asked and isinstance(node, ast.For | ast.AsyncFor | ast.While):
            self.changed.add(node.body[0])
        if isinstance(node, Function):
            self.in_function = True
        super().visit(node)
        self.asked, self.in_function = outer
        return [*map(ast.Expr, own), node]

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        if self.asked:
            self.changed.add(node.body[0])
        return self.generic_visit(node)

    def _conditional(self, node: ast.If | ast.While | ast.IfExp) -> ast.AST:
        place, is_fixed = node.test, isinstance(node.test, ast.Constant) or self.is_fixed(node.test)
        self.generic_visit(node)
        if self.asked and not is_fixed:
            node.test = self._both_ways(node.test, place)
        return node

    visit_If = visit_While = visit_IfExp = _conditional

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        places = list(node.ifs)
        self.generic_visit(node)
        if self.asked:
            node.ifs = [self._both_ways(each, place) for each, place in zip(node.ifs, places, strict=True)]
        return node

    def visit_match_case(self, node: ast.match_case) -> ast.AST:
        place = node.guard
        if self.asked:
            self.changed.add(node.body[0])
        self.generic_visit(node)
        if self.asked and node.guard is not None and place is not None:
            node.guard = self._both_ways(node.guard, place)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        places = list(node.values)
        self.generic_visit(node)
        node.values = [self._both_ways(each, place) if place in self.extra else each
                       for each, place in zip(node.values, places, strict=True)]  # fmt: skip
        if self.asked:
            later = zip(node.values[1:], places[1:], strict=True)
            node.values[1:] = [self._came(ProbeEvent.REST, place, each) for each, place in later]
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        place = node.body
        self.generic_visit(node)
        if self.asked:
            node.body = self._came(ProbeEvent.RAN, place, node.body)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        is_asked = self.asked and dump(node) in self.ties
        place = ast.copy_location(ast.Pass(), node)
        self.generic_visit(node)
        if not is_asked:
            return node
        # Each side is evaluated once, as before, and outside of the probe's function.
        sides = [ast.Name("one", ast.Load()), ast.Name("other", ast.Load())]
        given = ast.arguments(
            posonlyargs=[], args=[ast.arg("one"), ast.arg("other")], kwonlyargs=[], kw_defaults=[], defaults=[]
        )
        looked = self._came(ProbeEvent.TIE, place, *sides)
        pair = ast.Tuple([looked, ast.Compare(sides[0], node.ops, [sides[1]])], ast.Load())
        body = ast.Subscript(pair, ast.Constant(1), ast.Load())
        return ast.Call(ast.Lambda(given, body), [node.left, *node.comparators], [])

    def _both_ways(self, test: ast.expr, place: ast.AST) -> ast.expr:
        true = self._came(ProbeEvent.TRUE, place, ast.Constant(True))
        return ast.IfExp(test, true, self._came(ProbeEvent.FALSE, place, ast.Constant(False)))

    def _came(self, need: ProbeEvent, place: Any, *values: ast.expr) -> ast.expr:
        """A call of the probe; it returns the first of its values."""
        text = self.lines[place.lineno - 1].strip()
        text = text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
        self.probes.append(Probe(need, place.lineno if self.numbered else 0, text, self.is_old))
        return ast.Call(ast.Name(self.name, ast.Load()), [ast.Constant(len(self.probes) - 1), *values], [])

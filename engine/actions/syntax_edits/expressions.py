"""Edits of expressions: operators, constants, names, calls, slices, conditions."""

from __future__ import annotations

import ast
import builtins
import difflib
from collections.abc import Iterator

from stet_ls.engine.actions.syntax_edits.edit import UNLIKELY, EditedFunction, SyntaxEdit, short_text
from stet_ls.engine.actions.syntax_edits.table import FUNCTIONS, KEYWORDS, METHODS, OPERATORS, SYMBOLS, WRAPS
from stet_ls.engine.execution.inputs.mutations import text_of
from stet_ls.validators.source import Span, Splice

_ALIKE = 0.7
"""Names and texts this similar may be misspellings of each other."""
_KNOWN = frozenset(name for kind in (str, list, dict, set, tuple, bytes) for name in dir(kind) if name[0] != "_")
_TAKES_PART = (ast.Return, ast.For, ast.Call, ast.Compare, ast.BinOp, ast.comprehension)
"""Where a part of a sequence may be meant."""
_TIGHT = (ast.BinOp, ast.UnaryOp, ast.Attribute, ast.Subscript, ast.Await)


def operators(of: EditedFunction, node: ast.AST) -> Iterator[SyntaxEdit]:
    """Another operator, comparison or connective."""
    if isinstance(node, ast.BinOp):
        yield from _operator(of, node, node.op, of.span(node.left).end, of.span(node.right).start)
    elif isinstance(node, ast.AugAssign):
        yield from _operator(of, node, node.op, of.span(node.target).end, of.span(node.value).start)
        if place := of.symbol(of.span(node.target).end, of.span(node.value).start, f"{SYMBOLS[type(node.op)]}="):
            yield of.at(place, "=", node, 4)
    elif isinstance(node, ast.BoolOp):
        gaps = [of.symbol(of.span(left).end, of.span(right).start, SYMBOLS[type(node.op)])
                for left, right in zip(node.values, node.values[1:], strict=False)]  # fmt: skip
        for new in OPERATORS[type(node.op)]:
            splices = tuple(Splice(gap, SYMBOLS[new]) for gap in gaps if gap is not None)
            if len(splices) == len(gaps):
                words = f"{type(node.op).__name__} became {new.__name__}"
                yield SyntaxEdit(splices, words, of.lines(node), 1, mutates=True)
    elif isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        for left, right, each in zip(sides, sides[1:], node.ops, strict=False):
            yield from _operator(of, node, each, of.span(left).end, of.span(right).start)


def _operator(of: EditedFunction, node: ast.AST, old: ast.AST, start: int, end: int) -> Iterator[SyntaxEdit]:
    place = of.symbol(start, end, SYMBOLS.get(type(old), "@"))
    if place is None:
        return
    for number, new in enumerate(OPERATORS.get(type(old), ())):
        words = f"{type(old).__name__} became {new.__name__}"
        yield of.at(place, SYMBOLS[new], node, 1 if number < 3 else 2, words, mutates=number == 0)


def constants(of: EditedFunction, node: ast.AST) -> Iterator[SyntaxEdit]:
    """A neighboring number, the other truth value, a text that stands nearby."""
    if not isinstance(node, ast.Constant) or isinstance(of.parents.get(node), ast.JoinedStr):
        return
    old = node.value
    if isinstance(old, bool):
        yield _constant(of, node, not old, 1, mutates=True)
    elif isinstance(old, int | float):
        if abs(old) > 10**15:
            return
        yield _constant(of, node, old + 1, 1, mutates=True)
        yield _constant(of, node, old - 1, 1, mutates=True)
        near = [each for each in of.constants if isinstance(each, int | float) and not isinstance(each, bool)]
        usual = (0, 1, 2, -1, 10) if isinstance(old, int) else (0.0, 1.0, 2.0, 0.5, 100.0)
        others = [*((each, 2.0) for each in near), *((each, 2.5) for each in usual), (-old, 2.5)]
        others += [(old + 2, 3.0), (old - 2, 3.0)] if isinstance(old, int) else [(1 / old, 2.5)] if old else []
        for value, cost in others:
            if value not in (old, old + 1, old - 1):
                yield _constant(of, node, value, cost)
    elif isinstance(old, str):
        yield from _texts(of, node, old)
    elif old is None and isinstance(of.parents[node], ast.Return):
        for text in ("[]", "0", "''", "False", "True", "-1", "{}"):
            yield of.replaced(node, text, 3)


def _texts(of: EditedFunction, node: ast.Constant, old: str) -> Iterator[SyntaxEdit]:
    yield _constant(of, node, old + "x" if old else "x", UNLIKELY, mutates=True)
    near = [each for each in of.constants if isinstance(each, str)]
    alike = difflib.get_close_matches(old, of.words, n=4, cutoff=0.6) if len(old) > 2 else []
    short = [each for each in of.words if len(each) <= 2]
    written = {old.strip(): 2.0, old[::-1]: 2.5, old.swapcase(): 2.5, old + " ": 3.0, "": 2.5, " ": 2.5}
    for value, cost in [*((each, 2.0) for each in alike), *((each, 2.0) for each in [*near, *short]),
                        *written.items()]:  # fmt: skip
        if value != old:
            yield _constant(of, node, value, cost)
    if len(old) > 1:
        yield _constant(of, node, old[:-1], 3)
        yield _constant(of, node, old[1:], 3)


def _constant(
    of: EditedFunction, node: ast.Constant, value: object, cost: float, *, mutates: bool = False
) -> SyntaxEdit:
    span = of.span(node)
    text = text_of(value)
    parent = of.parents.get(node)
    if text.startswith("-") and isinstance(parent, _TIGHT):
        text = f"({text})"
    return of.at(span, text, node, cost, f"{text_of(node.value)} became {text_of(value)}", mutates=mutates)


def names(of: EditedFunction, node: ast.AST) -> Iterator[SyntaxEdit]:
    """Another variable of the function; for a misspelled name one that is written alike."""
    if isinstance(node, ast.Name):
        others = [each for each in of.names if each != node.id]
        if isinstance(node.ctx, ast.Load):
            is_known = node.id in of.names or hasattr(builtins, node.id)
            alike = difflib.get_close_matches(node.id, [*others, *dir(builtins)], n=3, cutoff=_ALIKE)
            for each in dict.fromkeys([*alike, *others]):
                cost = 0.5 if each in alike and not is_known else 1.5 if each in others else 3
                yield of.replaced(node, each, cost)
        elif isinstance(node.ctx, ast.Store) and isinstance(of.parents[node], ast.Assign | ast.AugAssign):
            for each in others:
                yield of.replaced(node, each, 3)
    elif isinstance(node, ast.Attribute):
        base = node.value.id if isinstance(node.value, ast.Name) else ""
        alike = [] if node.attr in _KNOWN else difflib.get_close_matches(node.attr, _KNOWN, n=3, cutoff=_ALIKE)
        siblings = [each for each in of.attributes.get(base, ()) if each != node.attr]
        rows = [*((each, 1.0) for each in METHODS.get(node.attr, ())), *((each, 1.0) for each in alike),
                *((each, 2.0) for each in siblings)]  # fmt: skip
        end = of.span(node).end
        for name, cost in rows:
            yield of.at(Span(end - len(node.attr.encode()), end), name, node, cost)


def calls(of: EditedFunction, node: ast.AST) -> Iterator[SyntaxEdit]:
    """Another function of its family, other arguments, or their order."""
    if not isinstance(node, ast.Call):
        return
    called = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
    if isinstance(node.func, ast.Name):
        for name in FUNCTIONS.get(called, ()):
            yield of.replaced(node.func, name, 1.5)
    given: list[ast.expr | ast.keyword] = [*node.args, *node.keywords]
    for left, right in zip(node.args, node.args[1:], strict=False):
        yield of.swapped(left, right, 1.5)
    for number in range(len(given)) if len(given) > 1 else ():
        yield of.removed(given, number, 2, "the argument")
    if isinstance(node.func, ast.Name) and called == "range" and len(node.args) == 1:
        yield of.replaced(node.args[0], f"1, {of.text(node.args[0])}", 2)
    taken = {each.arg for each in node.keywords}
    for keyword in KEYWORDS.get(called, ()):
        if keyword.partition("=")[0] not in taken:
            end = of.span(given[-1]).end if given else of.span(node).end - 1
            yield of.at(Span(end, end), f", {keyword}" if given else keyword, node, 2, f"added `{keyword}`")
    if isinstance(of.node, ast.AsyncFunctionDef) and not isinstance(of.parents[node], ast.Await):
        text = f"await {of.text(node)}"
        yield of.replaced(node, f"({text})" if isinstance(of.parents[node], _TIGHT) else text, 1.5)


def orders(of: EditedFunction, node: ast.AST) -> Iterator[SyntaxEdit]:
    """Operands, targets or items that were swapped."""
    if isinstance(node, ast.BinOp):
        cost = 1.5 if isinstance(node.op, ast.Sub | ast.Div | ast.FloorDiv | ast.Mod | ast.Pow | ast.Add) else 9
        if cost < 9:
            yield of.swapped(node.left, node.right, cost)
    elif isinstance(node, ast.Tuple) and len(node.elts) < 5:
        for left, right in zip(node.elts, node.elts[1:], strict=False):
            yield of.swapped(left, right, 2)
    elif isinstance(node, ast.IfExp):
        yield of.swapped(node.body, node.orelse, 2)


def parts(of: EditedFunction, node: ast.AST) -> Iterator[SyntaxEdit]:
    """A part in place of the whole: what is too much is left out."""
    if isinstance(node, ast.BinOp):
        yield of.replaced(node, of.text(node.left), 2)
        yield of.replaced(node, of.text(node.right), 2.5)
    elif isinstance(node, ast.BoolOp):
        for number in range(len(node.values)):
            yield of.removed(node.values, number, 2, "")
    elif isinstance(node, ast.UnaryOp):
        yield of.replaced(node, of.text(node.operand), 1.5)
    elif isinstance(node, ast.IfExp):
        yield of.replaced(node, of.text(node.body), 3)
        yield of.replaced(node, of.text(node.orelse), 3)
    elif isinstance(node, ast.Call) and not isinstance(of.parents[node], ast.Expr):
        if isinstance(node.func, ast.Attribute):
            yield of.replaced(node, of.text(node.func.value), 2)
        if len(node.args) == 1 and not isinstance(node.args[0], ast.GeneratorExp | ast.Starred):
            yield of.replaced(node, of.text(node.args[0]), 2)
    elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        yield of.replaced(node, of.text(node.value), 2.5)
    elif isinstance(node, ast.List | ast.Set) and len(node.elts) > 1:
        for number in range(len(node.elts)):
            yield of.removed(node.elts, number, 3, "the item")


def bounds(of: EditedFunction, node: ast.AST) -> Iterator[SyntaxEdit]:
    """Off by one: at the end of a range, at an index, in a comparison, in what is returned; bounds of slices."""
    for each, cost in _counted(node):
        text = of.text(each)
        loose = isinstance(each, ast.IfExp | ast.BoolOp | ast.Compare | ast.Lambda)
        if isinstance(each, ast.Constant):
            continue
        for sign in ("+", "-"):
            yield of.replaced(each, f"({text}) {sign} 1" if loose else f"{text} {sign} 1", cost)
    if isinstance(node, ast.Slice):
        for bound in filter(None, (node.lower, node.upper)):
            yield of.replaced(bound, "", 2)
    elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
        holder = of.parents[node]
        if isinstance(holder, _TAKES_PART) and node is not getattr(holder, "func", None):
            for part in ("[1:]", "[:-1]", "[::-1]"):
                yield of.replaced(node, f"{of.text(node)}{part}", 3.5)


def _counted(node: ast.AST) -> Iterator[tuple[ast.expr, float]]:
    if isinstance(node, ast.Call):
        is_range = isinstance(node.func, ast.Name) and node.func.id == "range"
        yield from ((each, 1.0 if is_range else 3.0) for each in node.args if not isinstance(each, ast.Starred))
    elif isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice | ast.Tuple):
        yield node.slice, 1.5
    elif isinstance(node, ast.Slice):
        yield from ((each, 1.5) for each in (node.lower, node.upper) if each is not None)
    elif isinstance(node, ast.Compare):
        yield from ((each, 2.0) for each in (node.left, *node.comparators))
    elif isinstance(node, ast.Return) and node.value is not None and not isinstance(node.value, ast.Tuple):
        yield node.value, 2.0


def wraps(of: EditedFunction, node: ast.AST) -> Iterator[SyntaxEdit]:
    """A call that is missing around a value."""
    parent = of.parents.get(node)
    if not isinstance(node, ast.expr) or isinstance(node, ast.Constant | ast.Starred | ast.Slice | ast.GeneratorExp):
        return
    is_value = isinstance(parent, ast.Return | ast.Assign | ast.For | ast.comprehension | ast.Compare)
    is_value = is_value and node is not getattr(parent, "target", None) and node not in getattr(parent, "targets", ())
    is_value = is_value and node not in getattr(parent, "ifs", ())
    is_given = isinstance(parent, ast.Call) and node in parent.args
    if not is_value and not is_given:
        return
    for each in WRAPS:
        if not (isinstance(node, ast.Call) and of.text(node).startswith(each.partition("{")[0])):
            cost = 2.0 if each[:3] == "abs" and isinstance(node, ast.BinOp) else 3.0
            yield of.replaced(node, each.format(of.text(node)), cost)
    if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
        yield of.replaced(node, f"{of.text(node.func)}({of.text(node)})", 3)


def conditions(of: EditedFunction, node: ast.AST) -> Iterator[SyntaxEdit]:
    """A condition negated."""
    tests = list(node.ifs) if isinstance(node, ast.comprehension) else []
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        tests = [node.test]
    for test in tests:
        text = of.text(test)
        negated = f"not {text}" if isinstance(test, ast.Name | ast.Call | ast.Attribute) else f"not ({text})"
        mutates = not isinstance(node, ast.comprehension)
        yield of.at(of.span(test), negated, test, 1.5, "condition negated", mutates=mutates)
    if isinstance(node, ast.BoolOp):
        for each in node.values:
            yield of.replaced(each, f"not ({of.text(each)})", 2)


def decided(of: EditedFunction, node: ast.AST) -> Iterator[SyntaxEdit]:
    """A condition that is always true or always false; one of a loop does not become always true."""
    tests: list[ast.expr] = []
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        tests = [*_conditions_in(node.test)]
    for test in tests:
        for value in (False,) if isinstance(node, ast.While) else (True, False):
            words = f"`{short_text(of.text(test))}` is always {str(value).lower()}"
            yield of.at(of.span(test), str(value), test, UNLIKELY, words, mutates=True)


def _conditions_in(test: ast.expr) -> Iterator[ast.expr]:
    """A condition, or those that connectives join in it."""
    if isinstance(test, ast.BoolOp):
        for each in test.values:
            yield from _conditions_in(each)
    else:
        yield test

"""Small deliberate bugs in a unit: good tests detect them.

Each mutant differs from the text in one place: an operator, a comparison, a constant, a condition, a return, a
removed statement. A mutant with the same text as another, or as the original, is skipped.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from stet_ls.engine.execution.inputs.mutations import text_of
from stet_ls.engine.execution.python.inputs.subject import Function, read_module, subject_of
from stet_ls.validators.ast_text import unparse


@dataclass(frozen=True, slots=True)
class Mutant:
    """The whole text with one change, and the description and line of the change."""

    text: str
    change: str
    line: int


_OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
    ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.LShift: ast.RShift, ast.RShift: ast.LShift,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip


def mutants_of(text: str, unit: str, most: int = 30) -> list[Mutant]:
    """At most `most` mutants of a unit, spread over all kinds of change; the same for the same unit."""
    module = read_module(text)
    subject = subject_of(module, unit) if module else None
    if module is None or subject is None:
        return []
    found: dict[str, Mutant] = {}
    original = unparse(module.tree)
    places = [node for node in ast.walk(subject.node) if not _is_documentation(node, subject.node)]
    for number, place in enumerate(places):
        for change in range(sum(1 for _ in _changes(place))):
            new, words = _changed(module.tree, subject.node, number, change)
            if new != original:
                found.setdefault(new, Mutant(new, words, getattr(place, "lineno", 0)))
    chosen = list(found.values())
    Random(0).shuffle(chosen)  # noqa: S311 - the choice must be the same each time
    return chosen[:most]


def _changed(tree: ast.Module, unit: ast.AST, number: int, change: int) -> tuple[str, str]:
    """The text of a copy of the module with one change in the unit, and a description of the change."""
    memo: dict[int, object] = {}
    whole = copy.deepcopy(tree, memo)
    own = memo[id(unit)]
    assert isinstance(own, ast.AST)
    place = [node for node in ast.walk(own) if not _is_documentation(node, own)][number]
    for at, words in enumerate(_changes(place)):
        if at == change:
            return unparse(ast.fix_missing_locations(whole)), words
    raise AssertionError("the copy has changes outside the unit")


def _changes(node: ast.AST) -> Iterator[str]:
    """Makes one change at each step, after undoing the previous one; yields its description."""
    yield from _operators(node)
    if isinstance(node, ast.Constant):
        yield from _constants(node)
    elif isinstance(node, ast.If | ast.While | ast.IfExp):
        test = node.test
        node.test = ast.UnaryOp(ast.Not(), test)
        yield "condition negated"
        node.test = test
    elif isinstance(node, ast.Return) and node.value is not None:
        value = node.value
        node.value = ast.Constant(None)
        yield "returns None"
        node.value = value
    for name in ("body", "orelse"):
        yield from _removals(node, name)


def _operators(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.BinOp | ast.AugAssign | ast.BoolOp) and type(node.op) in _OPERATORS:
        old = node.op
        node.op = _OPERATORS[type(old)]()  # type: ignore[assignment]
        yield f"{type(old).__name__} became {type(node.op).__name__}"
        node.op = old
    elif isinstance(node, ast.Compare):
        for at, each in enumerate(node.ops):
            if type(each) in _OPERATORS:
                node.ops[at] = _OPERATORS[type(each)]()  # type: ignore[call-overload]
                yield f"{type(each).__name__} became {type(node.ops[at]).__name__}"
                node.ops[at] = each


def _constants(node: ast.Constant) -> Iterator[str]:
    old = node.value
    if isinstance(old, bool):
        options: list[bool | int | float | str] = [not old]
    elif isinstance(old, int | float):
        options = [old + 1, old - 1]
    elif isinstance(old, str):
        options = [old + "x"] if old else ["x"]
    else:
        return
    for new in options:
        node.value = new
        yield f"{text_of(old)} became {text_of(new)}"
    node.value = old


def _removals(node: ast.AST, name: str) -> Iterator[str]:
    """Removes statements with an effect of their own; removing a binding would only leave a name unbound."""
    body = getattr(node, name, None)
    if not isinstance(body, list):
        return
    for at, each in enumerate(list(body)):
        if isinstance(each, ast.Expr | ast.AugAssign | ast.Break | ast.Continue | ast.Raise) and not _is_text(each):
            body[at] = ast.Pass()
            yield f"removed `{unparse(each).splitlines()[0]}`"
            body[at] = each


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_documentation(node: ast.AST, unit: ast.AST) -> bool:
    """True for a docstring's constant: changing it does not change the behavior."""
    owners = (each for each in ast.walk(unit) if isinstance(each, Function | ast.ClassDef) and each.body)
    return any(_is_text(each.body[0]) and node in ast.walk(each.body[0]) for each in owners)

"""Finds special cases for the inputs of tests: code that a change adds and that compares with an argument of its tests.

Code that answers its tests and nothing else passes them. Whether a special case is meant cannot be decided, so it is a
note, and the unit stays unproven. Only in Python.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from stet_ls.engine.execution.python.inputs.subject import Module, known_module, subject_of
from stet_ls.validators.ast_text import try_parse, unparse

USUAL = frozenset({"None", "True", "False", "''", "b''", "0", "1", "-1", "0.0", "1.0", "[]", "()", "{}", "set()"})
"""Values that code and tests treat separately for good reasons."""
_EQUAL = (ast.Eq, ast.In, ast.NotEq, ast.NotIn, ast.Is)


def special_case(before: str, after: str, unit: str, tests: Iterable[str]) -> str:
    """A value for which a changed unit has a case of its own and that its tests pass to it, as source text; "" if there
    is none. Parses: not for an event loop.
    """
    module = known_module(after)
    subject = subject_of(module, unit) if module else None
    if module is None or subject is None:
        return ""
    old = known_module(before)
    known = {*_shown(_constants(old.tree))} if old is not None else set[str]()
    cases = dict.fromkeys(_shown(_cases(subject.node, module)))
    fresh = [each for each in cases if each not in known and each not in USUAL]
    if not fresh:
        return ""
    given = given_values(subject.callee, tests)
    return next((each for each in fresh if each in given), "")


def given_values(callee: str, tests: Iterable[str]) -> frozenset[str]:
    """The literals that tests pass to a function, whole and by their parts, as texts. Parses."""
    return frozenset(_shown(_arguments(callee.rpartition(".")[2], tests)))


def _cases(node: ast.AST, module: Module) -> Iterator[ast.expr]:
    """The values with which a unit compares, and the keys of the tables that it uses."""
    names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    tables = [value for name, value in module.values.items() if name in names]
    for each in (*ast.walk(node), *(part for table in tables for part in ast.walk(table))):
        if isinstance(each, ast.Compare) and any(isinstance(operator, _EQUAL) for operator in each.ops):
            yield from (each.left, *each.comparators)
        elif isinstance(each, ast.MatchValue):
            yield each.value
        elif isinstance(each, ast.Dict):
            yield from (key for key in each.keys if key is not None)


def _arguments(name: str, tests: Iterable[str]) -> Iterator[ast.expr]:
    for text in tests:
        for each in ast.walk(try_parse(text) or ast.Module([], [])):
            called = each.func if isinstance(each, ast.Call) else None
            if isinstance(each, ast.Call) and name == getattr(called, "attr", getattr(called, "id", "")):
                yield from (*each.args, *(keyword.value for keyword in each.keywords))


def _constants(tree: ast.AST) -> Iterator[ast.expr]:
    yield from (each for each in ast.walk(tree) if isinstance(each, ast.Constant))


def _shown(values: Iterable[ast.expr]) -> Iterator[str]:
    """The literals among values, whole and by their parts, as texts that equal literals share."""
    for value in values:
        for each in ast.walk(value):
            is_signed = isinstance(each, ast.UnaryOp) and isinstance(each.operand, ast.Constant)
            if isinstance(each, ast.Constant) or is_signed:
                yield unparse(each)

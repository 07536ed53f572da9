"""Finds special cases for the inputs of tests: code that a change adds and that compares with an argument of its tests.

Code that answers its tests and nothing else passes them. Whether a special case is meant cannot be decided, so it is a
note, and the unit stays unproven. Only in Python.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from stet_ls.engine.actions.generated_tests.languages.conditions import given_literals, literal_texts
from stet_ls.engine.execution.python.inputs.subject import Module, known_module, subject_of

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
    known = {*literal_texts(_constants(old.tree))} if old is not None else set[str]()
    cases = dict.fromkeys(literal_texts(_cases(subject.node, module)))
    fresh = [each for each in cases if each not in known and each not in USUAL]
    if not fresh:
        return ""
    callee = subject.callee.rpartition(".")[2]
    given = frozenset[str]().union(*(given_literals(callee, text, "") for text in tests))
    return next((each for each in fresh if each in given), "")


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


def _constants(tree: ast.AST) -> Iterator[ast.expr]:
    yield from (each for each in ast.walk(tree) if isinstance(each, ast.Constant))

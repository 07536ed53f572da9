"""Counts tests and assertions, which must never shrink: deleting a failing test is the cheapest way to make it pass."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from stet_ls.engine.actions.generated_tests.suite_split import tests_in
from stet_ls.validators.ast_text import try_parse, unparse

_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_ASSERTING = re.compile(r"(?:assert\w*|fail|raises|warns|raises_group)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class AssertCount:
    """How much a text tests: its tests, their assertions, and the `>>>` lines of its docstrings."""

    tests: int = 0
    asserts: int = 0
    examples: int = 0

    def lost(self, after: AssertCount) -> str:
        """What the text has fewer of `after` a change, as text; "" if nothing."""
        parts = [
            f"{now} {name} instead of {was}"
            for name, was, now in (
                ("tests", self.tests, after.tests),
                ("asserts", self.asserts, after.asserts),
                ("examples", self.examples, after.examples),
            )
            if now < was
        ]
        return ", ".join(parts)


def count(text: str) -> AssertCount:
    """The count for a Python text; zero if it does not parse."""
    tree = try_parse(text)
    if tree is None:
        return AssertCount()
    tests = tests_in(text)
    lines = {line for test in tests for line in range(test.first, test.last + 1)}
    nodes = list(ast.walk(tree))
    asserts = sum(_asserts(node) for node in nodes if getattr(node, "lineno", 0) in lines)
    examples = sum((ast.get_docstring(node) or "").count(">>> ") for node in nodes if isinstance(node, _DOCUMENTED))
    return AssertCount(len(tests), asserts, examples)


def _asserts(node: ast.AST) -> bool:
    """True for an assertion that can fail. `assert True` cannot: it has to refer to the code."""
    if isinstance(node, ast.Assert):
        return any(isinstance(each, ast.Name | ast.Call | ast.Attribute) for each in ast.walk(node.test))
    if isinstance(node, ast.Call):
        return _ASSERTING.match(unparse(node.func).rpartition(".")[2]) is not None
    return False

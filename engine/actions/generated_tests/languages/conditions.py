"""The conditions that a change adds to a unit of Python, each held false once, and the literals that tests give it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from stet_ls.engine.actions.generated_tests.mutants import Mutant, mutants_by
from stet_ls.engine.actions.syntax_edits.edit import UNLIKELY, EditedFunction, SyntaxEdit, short_text
from stet_ls.engine.actions.syntax_edits.edits import functions_in
from stet_ls.engine.execution.python.inputs.subject import known_module, subject_of
from stet_ls.validators.ast_text import try_parse, unparse
from stet_ls.validators.source import Source

_USUAL = (None, True, False, 0, 1, -1, "", b"")
"""Values that code treats separately for good reasons."""


def without_conditions(before: str, after: str, language: str, unit: str) -> list[Mutant]:
    """The texts in which one new condition of a unit never holds, or always if it excludes values. Only conditions with
    a value that is not a usual one, or with a constant of the module. Parses.
    """
    module = known_module(after)
    subject = subject_of(module, unit) if module else None
    if module is None or subject is None:
        return []
    known = {unparse(each) for each in _conditions(try_parse(before) or ast.Module([], []))}
    source = Source(after)

    def edits() -> Iterator[SyntaxEdit]:
        for function in functions_in(subject.node):
            code = EditedFunction(source, function)
            for each in _conditions(function):
                if unparse(each) not in known and _names_value(each, module.values):
                    text = "True" if _excludes(each) else "False"
                    yield code.replaced(each, text, UNLIKELY, short_text(code.text(each)), mutates=True)

    return mutants_by(source, edits())


def given_literals(callee: str, text: str, language: str) -> frozenset[str]:
    """The literals that a text of tests passes to a function, whole and by their parts, as texts that equal literals
    share. Parses.
    """
    return frozenset(literal_texts(_arguments(callee, try_parse(text) or ast.Module([], []))))


def literal_texts(values: Iterable[ast.expr]) -> Iterator[str]:
    """The literals among values, whole and by their parts."""
    for value in values:
        for each in ast.walk(value):
            is_signed = isinstance(each, ast.UnaryOp) and isinstance(each.operand, ast.Constant)
            if isinstance(each, ast.Constant) or is_signed:
                yield unparse(each)


def _arguments(name: str, tree: ast.AST) -> Iterator[ast.expr]:
    for each in ast.walk(tree):
        called = each.func if isinstance(each, ast.Call) else None
        if isinstance(each, ast.Call) and name == getattr(called, "attr", getattr(called, "id", "")):
            yield from (*each.args, *(keyword.value for keyword in each.keywords))


def _conditions(tree: ast.AST) -> Iterator[ast.expr]:
    for each in ast.walk(tree):
        if isinstance(each, ast.If | ast.IfExp | ast.While):
            yield each.test
        elif isinstance(each, ast.comprehension):
            yield from each.ifs
        elif isinstance(each, ast.match_case) and each.guard is not None:
            yield each.guard


def _names_value(condition: ast.expr, values: dict[str, ast.expr]) -> bool:
    return any(
        (isinstance(each, ast.Constant) and each.value not in _USUAL)
        or (isinstance(each, ast.Name) and each.id in values)
        for each in ast.walk(condition)
    )


def _excludes(condition: ast.expr) -> bool:
    """Whether a condition is one that all but a few values meet: `x != 10`."""
    return isinstance(condition, ast.Compare) and isinstance(condition.ops[0], ast.NotEq | ast.NotIn | ast.IsNot)

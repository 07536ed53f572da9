"""The table of edits has no row, field or word that nothing uses."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import fields

import pytest

from stet_ls.engine.actions.syntax_edits.edit import UNLIKELY, EditedFunction, SyntaxEdit
from stet_ls.engine.actions.syntax_edits.edits import functions_in
from stet_ls.engine.actions.syntax_edits.kinds import KINDS, EditKind, Use
from stet_ls.engine.actions.syntax_edits.script import EditedScript
from stet_ls.engine.actions.syntax_edits.table import FUNCTION_ROWS, METHOD_ROWS, OPERATOR_ROWS
from stet_ls.engine.execution.javascript.inputs.subject import read_module
from stet_ls.validators.source import Source

PYTHON = """
def f(xs, n, found=[]):
    for x in xs:
        if not x:
            continue
        if x > n and x[1:]:
            found.append(x + 1)
        n += 1
    m = max(n, 2)
    return sorted(m, n)
"""
SCRIPT = """function f(xs, n, found = DEFAULTS) {
  for (const x of xs) {
    if (!x) continue;
    if (x > n && x.slice(1)) found.push(x + 1);
    n += 1;
  }
  const m = Math.max(n, 2);
  return g(m, n);
}
"""


def edits(kind: EditKind, language: str) -> Iterator[SyntaxEdit]:
    if language == "python":
        function = EditedFunction(Source(PYTHON), next(functions_in(ast.parse(PYTHON))))
        yield from (edit for node in function.nodes for edit in kind.python(function, node))
    else:
        module = read_module(SCRIPT, "javascript")
        assert module is not None
        script = EditedScript(Source(SCRIPT), module.found["f"].node)
        yield from (edit for node in script.nodes for edit in kind.script(script, node))


@pytest.mark.parametrize("language", ["python", "script"])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_each_kind_makes_in_each_language_what_its_row_says(kind: EditKind, language: str) -> None:
    made = list(edits(kind, language))
    assert any(each.mutates for each in made) == (Use.MUTANT in kind.use), kind
    assert any(each.cost < UNLIKELY for each in made) == (Use.REPAIR in kind.use), kind
    assert all(each.splices and each.change and each.lines[0] <= each.lines[1] for each in made)


def test_each_field_of_a_row_is_filled() -> None:
    assert len({kind.name for kind in KINDS}) == len(KINDS)
    for kind in KINDS:
        assert all(getattr(kind, field.name) for field in fields(kind)), kind.name
    names = {row.name for row in OPERATOR_ROWS}
    for operator in OPERATOR_ROWS:
        assert operator.python or operator.script, operator.name
        assert set(operator.others.split()) <= names, operator.name
        used = any(operator.name in row.others.split() for row in OPERATOR_ROWS)
        assert operator.others or used, operator.name
    for family in (*METHOD_ROWS, *FUNCTION_ROWS):
        assert all(len(words) != 1 for words in (family.python, family.script)), family
        assert family.python or family.script

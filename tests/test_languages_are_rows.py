"""What is known of a language is in the table of its room: rows are complete, and nothing else asks for it by name."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from stet_ls.engine.actions.generate_test_fix.languages.language_table import LOOP_LANGUAGES
from stet_ls.engine.actions.generated_tests.languages import language_table as suites
from stet_ls.engine.actions.prose import language_table as prose
from stet_ls.engine.actions.repair_search import language_table as repairs
from stet_ls.engine.execution import language_table as execution
from stet_ls.engine.execution.linters import language_table as linters
from stet_ls.engine.judges import language_table as judges
from stet_ls.engine.judges.danger import language_table as danger
from stet_ls.engine.judges.project_tests import language_table as project_tests
from stet_ls.engine.prompt.languages import language_table as prompt
from stet_ls.engine.reply.languages import language_table as reply
from stet_ls.engine.runners import language_table as runners
from stet_ls.validators import test_files
from stet_ls.validators.languages import LANGUAGES, NODE_KINDS
from stet_ls.validators.metrics import language_table as metrics

ROOT = Path(__file__).parent.parent
TABLES: Mapping[str, Mapping[str, Any]] = {
    "validators/language_table/rows.py": {row.id: row for row in LANGUAGES},
    "validators/language_table/row.py": NODE_KINDS,
    "validators/test_files.py": test_files.ROWS,
    "validators/metrics/language_table.py": metrics.ROWS,
    "engine/reply/languages/language_table.py": reply.ROWS,
    "engine/prompt/languages/language_table.py": prompt.ROWS,
    "engine/execution/language_table.py": execution.ROWS,
    "engine/execution/linters/language_table.py": linters.ROWS,
    "engine/runners/language_table.py": runners.ROWS,
    "engine/judges/language_table.py": judges.ROWS,
    "engine/judges/danger/language_table.py": danger.ROWS,
    "engine/judges/project_tests/language_table.py": project_tests.ROWS,
    "engine/actions/generated_tests/languages/language_table.py": suites.ROWS,
    "engine/actions/generate_test_fix/languages/language_table.py": LOOP_LANGUAGES,
    "engine/actions/prose/language_table.py": prose.ROWS,
    "engine/actions/repair_search/language_table.py": repairs.ROWS,
}
IDS = frozenset(row.id for row in LANGUAGES if row.kind == "code" and row.id in NODE_KINDS)
"""The languages that are more than a grammar: their names stand for nothing else."""
OWN = re.compile(r"(^|/)(languages|language_table|" + "|".join(map(re.escape, IDS - {"c"})) + r")(_\w+)?(/|\.py$)")
"""A language's own tables and modules."""
ALLOWED = {
    "validators/checkers/tools/clang.py": "the module of the compiler of C and C++: a header may be either",
    "engine/prompt/seal.py": "formats in which settings hold secrets, some of which are no languages here",
    "engine/runners/toolchain.py": "names of programs",
    "engine/sandbox/environments/requirements.py": "a key in a table of Poetry's",
    "server/cli/sandbox.py": "the name of a program",
}


def comparisons(source: str) -> Iterator[int]:
    """The lines that compare with the id of a language, or look for something among some of them."""
    tree = ast.parse(source)
    named = {
        target.id: _texts(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        match node:
            case ast.Compare():
                sides = [node.left, *node.comparators]
                among = any(isinstance(operator, ast.In | ast.NotIn) for operator in node.ops)
                texts = [_texts(side) for side in sides]
                texts += [named.get(side.id, set()) for side in sides if among and isinstance(side, ast.Name)]
            case ast.MatchValue():
                texts = [_texts(node.value)]
            case ast.Call(func=ast.Attribute(attr="startswith" | "endswith")):
                texts = [_texts(each) for each in node.args]
            case _:
                continue
        if IDS.intersection(*[set().union(*texts)]):
            yield node.lineno if isinstance(node, ast.expr) else node.value.lineno


def _texts(node: ast.expr) -> set[str]:
    """The texts that an expression writes down, alone or in a collection."""
    match node:
        case ast.Constant(value=str(text)):
            return {text}
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
            return set[str]().union(*map(_texts, parts))
        case ast.Dict(keys=keys):
            return set[str]().union(*(_texts(key) for key in keys if key is not None))
        case ast.Starred(value=inner) | ast.Call(func=ast.Name(id="frozenset" | "set" | "tuple"), args=[inner]):
            return _texts(inner)
    return set()


@cache
def _product() -> Mapping[str, str]:
    paths = (path for room in ("server", "engine", "validators") for path in (ROOT / room).rglob("*.py"))
    return {path.relative_to(ROOT).as_posix(): path.read_text() for path in sorted(paths)}


def test_no_file_compares_the_name_of_a_language() -> None:
    """A language that a comparison knows is a fact that no table shows: make it a field of the room's row."""
    others = {path: text for path, text in _product().items() if not OWN.search(path) and path not in ALLOWED}
    assert {path: lines for path, text in others.items() if (lines := list(comparisons(text)))} == {}


@pytest.mark.parametrize("path", ALLOWED)
def test_every_exception_is_needed(path: str) -> None:
    assert list(comparisons(_product()[path])), ALLOWED[path]


@pytest.mark.parametrize(
    "planted",
    [
        'if request.language == "python": pass',
        'if case.language not in ("go", "rust"): pass',
        '_SCRIPTS = frozenset({"javascript", "typescript"})\nwide = language in _SCRIPTS',
        'if language.startswith("typescript"): pass',
        'match language:\n    case "java":\n        pass',
        '_BY = {"go": 1}\nknown = language in _BY',
    ],
)
def test_a_planted_comparison_is_found(planted: str) -> None:
    assert list(comparisons(planted))


@pytest.mark.parametrize("harmless", ['names = {"python": 1}', 'if word == "pythonic": pass', 'if tag == "json": pass'])
def test_tables_and_other_strings_are_not_comparisons(harmless: str) -> None:
    assert not list(comparisons(harmless))


@pytest.mark.parametrize("table", [path for path in TABLES if path.startswith("engine/")])
def test_contributing_lists_each_table_of_languages(table: str) -> None:
    assert f"| `{table}` |" in (ROOT / "CONTRIBUTING.md").read_text()


@pytest.mark.parametrize("table", TABLES)
def test_each_row_has_a_known_language(table: str) -> None:
    assert set(TABLES[table]) <= {row.id for row in LANGUAGES}


@pytest.mark.parametrize(
    ("table", "name"),
    [(table, field.name) for table, rows in TABLES.items() for field in fields(next(iter(rows.values())))],
)
def test_each_field_is_set_and_read(table: str, name: str) -> None:
    """A field that every row leaves at its default, or that nothing asks for, is no fact about languages."""
    rows = TABLES[table].values()
    (field,) = (each for each in fields(next(iter(rows))) if each.name == name)
    default = field.default_factory() if field.default_factory is not MISSING else field.default
    assert any(getattr(row, name) != default for row in rows)
    assert any(re.search(rf"\.{name}\b", text) for text in _product().values()), f"nothing reads `{name}`"

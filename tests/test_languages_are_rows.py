"""What is known of a language is in the table of its room: rows are complete, and nothing else asks for it by name."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from stet_ls.engine.actions.computing.language_table import PROGRAMS
from stet_ls.engine.actions.generate_test_fix.languages.language_table import LOOP_LANGUAGES
from stet_ls.engine.actions.generated_tests.languages import language_table as suites
from stet_ls.engine.actions.porting.language_table import SOURCES, TARGETS
from stet_ls.engine.actions.prose import language_table as prose
from stet_ls.engine.actions.renaming.language_table import RENAMERS
from stet_ls.engine.actions.repair_search import language_table as repairs
from stet_ls.engine.execution import language_table as execution
from stet_ls.engine.execution.linters import language_table as linters
from stet_ls.engine.judges import language_table as judges
from stet_ls.engine.judges.danger import language_table as danger
from stet_ls.engine.judges.differential.language_table import COMPARERS, LanguageComparer
from stet_ls.engine.judges.project_tests import language_table as project_tests
from stet_ls.engine.judges.types.type_checkers import CHECKERS as TYPE_CHECKERS
from stet_ls.engine.prompt.languages import language_table as prompt
from stet_ls.engine.reply.languages import language_table as reply
from stet_ls.engine.runners import language_table as runners
from stet_ls.validators import test_files
from stet_ls.validators.checkers.formatters import FORMATTERS
from stet_ls.validators.checkers.table import CHECKERS
from stet_ls.validators.languages import LANGUAGES, NODE_KINDS
from stet_ls.validators.metrics import language_table as metrics
from stet_ls.validators.structure import heuristic_units

ROOT = Path(__file__).parent.parent
BY_LANGUAGE: Mapping[str, Mapping[str, Any]] = {
    "validators/language_table/rows.py: LANGUAGES": {row.id: row for row in LANGUAGES},
    "validators/languages.py: NODE_KINDS": NODE_KINDS,
    "validators/test_files.py: ROWS": test_files.ROWS,
    "validators/metrics/language_table.py: ROWS": metrics.ROWS,
    "validators/structure/heuristic_units.py: _WORDS": heuristic_units._WORDS,
    "engine/reply/languages/language_table.py: ROWS": reply.ROWS,
    "engine/prompt/languages/language_table.py: ROWS": prompt.ROWS,
    "engine/execution/language_table.py: ROWS": execution.ROWS,
    "engine/execution/linters/language_table.py: ROWS": linters.ROWS,
    "engine/runners/language_table.py: ROWS": runners.ROWS,
    "engine/judges/language_table.py: ROWS": judges.ROWS,
    "engine/judges/danger/language_table.py: ROWS": danger.ROWS,
    "engine/judges/differential/language_table.py: COMPARERS": COMPARERS,
    "engine/judges/project_tests/language_table.py: ROWS": project_tests.ROWS,
    "engine/actions/computing/language_table.py: PROGRAMS": PROGRAMS,
    "engine/actions/generated_tests/languages/language_table.py: ROWS": suites.ROWS,
    "engine/actions/generate_test_fix/languages/language_table.py: LOOP_LANGUAGES": LOOP_LANGUAGES,
    "engine/actions/porting/language_table.py: SOURCES": SOURCES,
    "engine/actions/porting/language_table.py: TARGETS": TARGETS,
    "engine/actions/prose/language_table.py: ROWS": prose.ROWS,
    "engine/actions/renaming/language_table.py: RENAMERS": RENAMERS,
    "engine/actions/repair_search/language_table.py: ROWS": repairs.ROWS,
}
"""Tables with a row for each language."""
BY_TOOL: Mapping[str, tuple[Any, ...]] = {
    "validators/checkers/table.py: CHECKERS": CHECKERS,
    "validators/checkers/formatters.py: FORMATTERS": FORMATTERS,
    "engine/judges/types/type_checkers.py: CHECKERS": TYPE_CHECKERS,
}
"""Tables with a row for each tool, in which a field lists its languages."""
TABLES: Mapping[str, tuple[Any, ...]] = {name: tuple(rows.values()) for name, rows in BY_LANGUAGE.items()} | BY_TOOL
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


_parsed = cache(ast.parse)


def comparisons(source: str) -> Iterator[int]:
    """The lines that compare with the id of a language, or look for something among some of them."""
    tree = _parsed(source)
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


def tables(source: str, tools: frozenset[str] = frozenset()) -> Iterator[str]:
    """The names of the tables that a module writes down: a row for each language, or one for each of some tools.

    `tools` are the classes of rows in which a field lists the languages of a tool.
    """
    every = {row.id for row in LANGUAGES}
    for node in _parsed(source).body:
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
        if isinstance(value, ast.Call) and value.args and getattr(value.func, "id", "") == "MappingProxyType":
            value = value.args[0]
        match value:
            case ast.Dict(keys=[_, *_] as keys, values=rows) if all(_texts(key) & every for key in keys if key):
                names = set[str]().union(*(_texts(key) for key in keys if key))
                found = bool(names & IDS) and any(map(_is_row, rows))
            case ast.Tuple(elts=rows):
                found = any(isinstance(row, ast.Call) and getattr(row.func, "id", "") in tools for row in rows)
            case _:
                continue
        if found:
            yield ast.unparse(node.targets[0] if isinstance(node, ast.Assign) else node.target)


def _is_row(value: ast.expr) -> bool:
    """Whether a value of a table has fields: an object that is made there, or a module."""
    is_module = isinstance(value, ast.Name) and value.id.islower() and not value.id.startswith("_")
    return is_module or (isinstance(value, ast.Call) and isinstance(value.func, ast.Name))


@cache
def _tools() -> frozenset[str]:
    """The classes of rows with the field `languages`, but for those of actions."""
    found = {
        node.name
        for text in _product().values()
        for node in _parsed(text).body
        if isinstance(node, ast.ClassDef)
        for field in node.body
        if isinstance(field, ast.AnnAssign) and getattr(field.target, "id", "") == "languages"
    }
    return frozenset(found - {"ActionSpec"})


def test_every_table_of_languages_is_checked_here() -> None:
    found = {f"{path}: {name}" for path, text in _product().items() for name in tables(text, _tools())}
    assert found - set(TABLES) == set()


@pytest.mark.parametrize(
    "planted",
    [
        'ROWS: Mapping[str, Row] = {"python": Row(1), "go": Row(2)}',
        'ROWS = MappingProxyType({"python": Row(1)})',
        'BY = {"python": python, "javascript": javascript}',
        'ROWS = (Tool("a", ("python",)), Tool("b", ()))',
    ],
)
def test_a_planted_table_is_found(planted: str) -> None:
    assert list(tables(planted, frozenset({"Tool"})))


@pytest.mark.parametrize("table", [path for path in BY_LANGUAGE if path.startswith("engine/")])
def test_contributing_lists_each_table_of_languages(table: str) -> None:
    assert f"| `{table.partition(':')[0]}` |" in (ROOT / "CONTRIBUTING.md").read_text()


@pytest.mark.parametrize("table", BY_LANGUAGE)
def test_each_row_has_a_known_language(table: str) -> None:
    assert set(BY_LANGUAGE[table]) <= {row.id for row in LANGUAGES}


@pytest.mark.parametrize("table", BY_TOOL)
def test_each_tool_has_known_languages(table: str) -> None:
    assert {language for row in BY_TOOL[table] for language in row.languages} <= {row.id for row in LANGUAGES}


def names_of_fields(rows: Iterable[Any]) -> list[str]:
    """The fields of the rows of a table; those of a module are the functions that its protocol names."""
    row = next(iter(rows))
    if is_dataclass(row):
        return [field.name for field in fields(row)]
    return [name for name, each in vars(LanguageComparer).items() if callable(each) and name[0] != "_"]


@pytest.mark.parametrize(
    ("table", "name"), [(table, name) for table, rows in TABLES.items() for name in names_of_fields(rows)]
)
def test_each_field_is_set_and_read(table: str, name: str) -> None:
    """A field that every row leaves at its default, or that nothing asks for, is no fact about languages."""
    rows = TABLES[table]
    default = next((_default(each) for each in _fields(rows[0]) if each.name == name), None)
    assert any(getattr(row, name) != default for row in rows)
    assert any(re.search(rf"\.{name}\b", text) for text in _product().values()), f"nothing reads `{name}`"


def _fields(row: Any) -> tuple[Field[Any], ...]:
    return fields(row) if is_dataclass(row) else ()


def _default(field: Field[Any]) -> object:
    return field.default_factory() if field.default_factory is not MISSING else field.default

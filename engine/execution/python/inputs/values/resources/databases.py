"""Databases for parameters that run SQL: real ones in memory, with the tables and columns that the code names."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from stet_ls.engine.execution.harness_run import Call
from stet_ls.engine.execution.inputs.mutations import literal
from stet_ls.engine.execution.inputs.rows import GUESSED, UNSURE
from stet_ls.engine.execution.python.inputs.subject import Subject, known_module, subject_of
from stet_ls.engine.execution.python.inputs.values.kinds.kind_names import named_kind
from stet_ls.validators.ast_text import unparse

MOST_DATABASES = 48
_RUNNING = frozenset({"execute", "executemany", "executescript"})
_HINT = re.compile(r"\bsqlite3\.(Connection|Cursor)\b")
_TABLE = re.compile(
    r"(?i)\b(?:from|into|update|join|table(?: if not exists)?)\s+(?P<table>[a-z_]\w*)"
    r"(?:\s+as)?(?:\s+(?P<alias>[a-z]\w*))?"
)
_TEXT = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|[:@$]\w+|\?\d*|\b\d[\d.]*\b|\bas\s+\w+", re.IGNORECASE)
_NAME = re.compile(r"(?:\b(?P<of>[a-z_]\w*)\.)?\b(?P<name>[a-z_]\w*)\b(?!\s*[(.])", re.IGNORECASE)
_KEYWORDS = frozenset(re.findall(r"\w+", """
    select from where and or not in is null like between order by group having limit offset asc desc distinct insert
    into values update set delete join left right inner outer cross on using as case when then else end union all exists
    ignore replace abort fail rollback conflict do nothing begin commit immediate exclusive transaction create table if
    primary key unique integer text real blob default check collate nocase returning true false with recursive escape
    glob pragma excluded
"""))  # fmt: skip
_SIZES = (3, 0, 6, 160, 1, 12)
"""The numbers of rows, call after call: more than a page of a hundred among them."""
_WORDS, _NUMBERS = ("a", "b", "c", "d"), (1, 2, 3, 0, 50)
_PLACEHOLDER = re.compile(r"(?P<name>[A-Za-z_]\w*)?\W*(?:\b(?:like|in|is|between|glob)\b\W*)?\?", re.IGNORECASE)
"""A placeholder, with the column before it."""
_PATTERNS = re.compile(r"(?i)\b(like|glob|nocase|lower|upper)\b")
_REFUSED = (
    "CREATE TRIGGER {0}_u BEFORE UPDATE ON {0} WHEN OLD.rowid > 1 BEGIN SELECT RAISE(ABORT, 'refused'); END;"
    "CREATE TRIGGER {0}_i BEFORE INSERT ON {0} WHEN (SELECT count(*) FROM {0}) > 3 BEGIN"
    " SELECT RAISE(ABORT, 'refused'); END;"
)
"""Makes writes to some rows fail."""
_REFUSED_LATER = "".join(
    f"CREATE TRIGGER {{0}}_{each[0].lower()} BEFORE {each} ON {{0}} WHEN written() > 0 BEGIN"
    " SELECT RAISE(ABORT, 'refused'); END;" for each in ("UPDATE", "INSERT", "DELETE")
)  # fmt: skip
"""Makes every write of a call but the first fail, so that what is left of the first one shows."""
Tables = Mapping[str, tuple[str, ...]]
"""Columns by table."""


def with_databases(calls: tuple[Call, ...], texts: Sequence[str], unit: str) -> tuple[Call, ...]:
    """The calls of a unit; if a parameter of it runs SQL, with a database in its place."""
    subjects = [subject for text in texts if (module := known_module(text)) and (subject := subject_of(module, unit))]
    statements = list(dict.fromkeys(each for subject in subjects for each in _statements(subject.node)))
    name = next((found for subject in subjects for found in _holders(subject)), "")
    tables = tables_of(statements)
    if not name or not tables or subjects[0].how != "function":
        return calls
    others = [each for each in subjects[0].parameters if each.name != name]
    is_annotated = all(each.annotation is not None for each in others)
    columns = {name: column for subject in reversed(subjects) for name, column in _bound(subject)}
    has_patterns = any(map(_PATTERNS.search, statements))
    made: list[Call] = []
    for number, call in enumerate(call for call in calls if not call.again):
        lines = dict(line.partition(" = ")[::2] for line in call.setup.splitlines() if " = " in line)
        if call.origin in UNSURE and name in lines and len(made) < MOST_DATABASES:
            if len(made) % 2:
                lines |= _found_values(lines, columns, len(made), has_patterns=has_patterns)
            given = {key: literal(text) for key, text in lines.items() if key != name}
            for key, column in columns.items():
                given[column] = [*_atoms(given.get(column)), *_atoms(given.get(key))]
            lines[name] = f"__database__({_script(tables, given, number)!r})"
            setup = "\n".join(f"{key} = {text}" for key, text in lines.items())
            made.append(replace(call, setup=setup, origin="drawn" if is_annotated else GUESSED))
    return (*dict.fromkeys(made), *(call for call in calls if call.origin not in UNSURE))


def tables_of(statements: Sequence[str]) -> Tables:
    """The tables that statements name, with their columns; a column without a table is the first one's."""
    found: dict[str, dict[str, None]] = {}
    for statement in statements:
        plain = _TEXT.sub(" ", statement)
        places = list(_TABLE.finditer(plain))
        names = {each["table"]: each["table"] for each in places}
        names |= {each["alias"]: each["table"] for each in places if each["alias"]}
        names = {alias: table for alias, table in names.items() if alias.lower() not in _KEYWORDS}
        for table in names.values():
            found.setdefault(table, {})
        for each in _NAME.finditer(plain) if names else ():
            table = names.get(each["of"] or "", next(iter(names.values())))
            if each["name"].lower() not in _KEYWORDS and each["name"] not in names:
                found[table][each["name"]] = None
    return {table: tuple(columns) or ("id",) for table, columns in found.items()}


def _holders(subject: Subject) -> Iterator[str]:
    """The parameters that are connections: by hint, or since they run a statement or make a cursor."""
    running = {each.func.value.id for each in ast.walk(subject.node) if isinstance(each, ast.Call)
               and isinstance(each.func, ast.Attribute) and each.func.attr in {*_RUNNING, "cursor"}
               and isinstance(each.func.value, ast.Name)}  # fmt: skip
    for each in subject.parameters:
        hint = unparse(each.annotation) if each.annotation is not None else ""
        if _HINT.search(hint) or (not hint and each.name in running):
            yield each.name


def _statements(node: ast.AST) -> Iterator[str]:
    for each in ast.walk(node):
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr in _RUNNING:
            first = each.args[0] if each.args else None
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield first.value


def _bound(subject: Subject) -> Iterator[tuple[str, str]]:
    """The parameters that stand for a placeholder of a statement, each with its column."""
    names = {each.name for each in subject.parameters}
    for each in ast.walk(subject.node):
        if not (isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr in _RUNNING):
            continue
        statement, values = [*each.args, None, None][:2]
        if isinstance(statement, ast.Constant) and isinstance(values, ast.Tuple | ast.List):
            columns = [match["name"] or "" for match in _PLACEHOLDER.finditer(str(statement.value))]
            for value, column in zip(values.elts, columns, strict=False):
                if isinstance(value, ast.Name) and value.id in names and column.lower() not in _KEYWORDS:
                    yield value.id, column


def _found_values(
    lines: Mapping[str, str], columns: Mapping[str, str], number: int, *, has_patterns: bool
) -> dict[str, str]:
    """Arguments that are bound to columns, each with a value of its own that the column may hold."""
    found = {}
    for at, (name, column) in enumerate(columns.items()):
        if name not in lines:
            continue
        kind = named_kind(name) or ("int" if column == "id" or column.endswith("_id") else named_kind(column))
        is_number = kind in ("int", "float", "bool")
        words = ("a_c", "a%", "A", "b") if has_patterns else _WORDS
        pool: Sequence[int | str] = (1, 2, 3) if is_number else words
        found[name] = repr(pool[(number // 2 + at) % len(pool)])
    return found


def _script(tables: Tables, given: Mapping[str, Any], number: int) -> str:
    """Statements that fill the tables, with values of the call's other arguments, so that some of its rows match."""
    unique, refuses = number % 3 == 1, number % 5 == 4
    parts = []
    for table, columns in tables.items():
        more = f", UNIQUE ({', '.join(columns)})" if unique else ""
        parts.append(f"CREATE TABLE {table} ({', '.join(columns)}{more});")
        rows = [", ".join(_value(column, given, number + row + (row + row // 4) * at)
                          for at, column in enumerate(columns))
                for row in range(_SIZES[number % len(_SIZES)])]  # fmt: skip
        filled = ", ".join(f"({row})" for row in rows)
        parts += [f"INSERT OR IGNORE INTO {table} VALUES {filled};"] if rows else []  # noqa: S608 - runs in the sandbox
        refused = _REFUSED_LATER if number % 2 else _REFUSED
        parts += [refused.format(table)] if refuses else []
    return "".join(parts)


def _value(column: str, given: Mapping[str, Any], row: int) -> str:
    own = list(_atoms(given.get(column, given.get(f"{column}s"))))
    is_number = named_kind(column) in ("int", "float", "bool") or column == "id"
    among = own or [
        each for value in given.values() for each in _atoms(value) if isinstance(each, str) is not is_number
    ]
    pool = [*among, *(_NUMBERS if is_number else (*_WORDS, "aXc"))]
    value = pool[row % len(pool)]
    return "'" + value.replace("'", "''").replace("\0", "") + "'" if isinstance(value, str) else str(value)


def _atoms(value: Any) -> Iterator[int | str]:
    """The texts and whole numbers in a value that a column can hold."""
    if isinstance(value, list | tuple | set | dict):
        for each in list(value)[:6]:
            yield from _atoms(each)
    elif isinstance(value, str) or (type(value) is int and abs(value) < 2**62):
        yield value

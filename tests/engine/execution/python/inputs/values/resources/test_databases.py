"""Databases for code that runs SQL: the tables and columns that its statements name."""

from __future__ import annotations

import sqlite3

import pytest

from stet_ls.engine.execution.python.inputs.calls import calls_for
from stet_ls.engine.execution.python.inputs.values.resources.databases import _REFUSED_LATER, tables_of, with_databases
from stet_ls.engine.execution.python.inside.values.database import content_of, database

_COUNT = """def restock(connection, article: str, more: int):
    \"\"\"Adds to what is there.\"\"\"
    cursor = connection.execute("UPDATE stock SET count = count + ? WHERE article = ?", (more, article))
    connection.commit()
    return cursor.rowcount
"""


def test_tables_have_the_columns_that_statements_name() -> None:
    statements = [
        "INSERT OR IGNORE INTO tags (article, tag) VALUES (?, 'x')",
        "SELECT o.id, c.name AS who FROM orders o JOIN customers c ON c.id = o.customer WHERE o.total > 5",
        "SELECT count(*) FROM users",
    ]
    assert tables_of(statements) == {
        "tags": ("article", "tag"), "orders": ("id", "customer", "total"), "customers": ("name", "id"),
        "users": ("id",),
    }  # fmt: skip


def test_a_parameter_that_runs_sql_is_a_database_in_which_some_rows_match() -> None:
    calls = with_databases(calls_for(_COUNT, "restock"), (_COUNT, _COUNT), "restock")
    assert len(calls) > 20
    counts, failed = [], 0
    for call in calls:
        space: dict[str, object] = {"__database__": database, "__out__": counts.append}
        try:
            exec(f"{_COUNT}\n{call.setup}\n{call.body}", space)
        except sqlite3.IntegrityError:
            failed += 1
    assert counts.count(0) > 3 < len(counts) - counts.count(0)
    assert failed


def test_what_a_call_binds_is_in_some_rows_and_texts_are_patterns_where_the_code_has_one() -> None:
    old = (
        'def user_id(db, email):\n    return db.execute("SELECT id FROM users WHERE email = ?", (email,)).fetchone()\n'
    )
    calls = with_databases(calls_for(old, "user_id"), (old, old.replace("email = ?", "email LIKE ?")), "user_id")
    patterns = [call for call in calls if "email = 'a_c'" in call.setup]
    assert any("'aXc'" in call.setup for call in patterns)


def test_writes_after_the_first_fail_and_what_is_not_committed_is_counted() -> None:
    opened = database("CREATE TABLE a (b);" + _REFUSED_LATER.format("a"))
    opened.execute("INSERT INTO a VALUES (1)")
    assert "1 change not committed" in content_of(opened)
    opened.commit()
    assert "committed" not in content_of(opened)
    with pytest.raises(sqlite3.IntegrityError, match="refused"):
        opened.execute("INSERT INTO a VALUES (2)")
    assert "committed" not in content_of(opened)

"""Databases for code that runs SQL: the tables and columns that its statements name."""

from __future__ import annotations

import sqlite3

from stet_ls.engine.execution.python.inputs.calls import calls_for
from stet_ls.engine.execution.python.inputs.values.databases import tables_of, with_databases

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
        space: dict[str, object] = {"__database__": _database, "__out__": counts.append}
        try:
            exec(f"{_COUNT}\n{call.setup}\n{call.body}", space)
        except sqlite3.IntegrityError:
            failed += 1
    assert counts.count(0) > 3 < len(counts) - counts.count(0)
    assert failed


def _database(script: str) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    connection.executescript(script)
    return connection

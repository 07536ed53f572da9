"""Databases in memory, for calls whose code runs SQL on what is passed in."""

from __future__ import annotations

from typing import Any


def database(script: str) -> Any:
    """A connection to a new database with what the script makes; `written()` in it counts the changes since then."""
    import sqlite3

    class Database(sqlite3.Connection):
        committed = 0
        """The number of changes up to the last commit."""

        def __repr__(self) -> str:
            return content_of(self)

        def note(self, statement: str) -> None:
            if statement.upper().startswith("COMMIT"):
                self.committed = self.total_changes

    connection = sqlite3.connect(":memory:", factory=Database)
    connection.create_function("written", 0, lambda: connection.total_changes - made)
    made = 0
    connection.executescript(script)
    connection.commit()
    made = connection.committed = connection.total_changes
    connection.set_trace_callback(connection.note)
    return connection


def content_of(connection: Any) -> str:
    """All tables of a database as statements, and how many changes are not committed; that it is closed, if so."""
    try:
        open_one = ", in a transaction" if connection.in_transaction else ""
        lost = connection.total_changes - getattr(connection, "committed", connection.total_changes)
        uncommitted = f", {lost} change{'s' * (lost > 1)} not committed" if open_one and lost else ""
        connection.row_factory = None
        return "database({}{}{})".format(" ".join(connection.iterdump()), open_one, uncommitted)
    except Exception as error:  # it is closed, or in another thread
        return f"database, {type(error).__name__}"

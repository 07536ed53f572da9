"""Databases in memory, for calls whose code runs SQL on what is passed in."""

from __future__ import annotations

from typing import Any


def database(script: str) -> Any:
    """A connection to a new database with what the script makes."""
    import sqlite3

    class Database(sqlite3.Connection):
        def __repr__(self) -> str:
            return content_of(self)

    connection = sqlite3.connect(":memory:", factory=Database)
    connection.executescript(script)
    connection.commit()
    return connection


def content_of(connection: Any) -> str:
    """All tables of a database as statements, and whether a transaction is open; that it is closed, if so."""
    try:
        open_one = ", in a transaction" if connection.in_transaction else ""
        connection.row_factory = None
        return "database({}{})".format(" ".join(connection.iterdump()), open_one)
    except Exception as error:  # it is closed, or in another thread
        return f"database, {type(error).__name__}"

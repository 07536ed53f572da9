"""Which public functions and methods stand for a private one."""

from __future__ import annotations

import pytest

from stet_ls.engine.execution.python.callers import public_callers

TEXT = """\
def total(rows):
    return _sum(_cells(rows))

def shown(rows):
    return str(total(rows))

def _cells(rows):
    return [_number(cell) for row in rows for cell in row]

def _number(cell):
    return int(cell)

def _sum(cells):
    return sum(cells)

def _unused(cells):
    return cells

class Table:
    def __init__(self, rows):
        self.rows = self._read(rows)

    def width(self):
        return self._longest(self.rows)

    def _read(self, rows):
        return rows

    def _longest(self, rows):
        return max(map(len, rows))

class _Cell:
    def text(self):
        return ""

def blank():
    return _Cell().text()
"""


@pytest.mark.parametrize(
    ("unit", "callers"),
    [
        ("_sum", ("total",)),
        ("_number", ("total",)),
        ("_unused", ()),
        ("total", ()),
        ("Table._longest", ("Table.width",)),
        ("Table._read", ("Table",)),
        ("Table.width", ()),
        ("_Cell.text", ("blank",)),
        ("_Cell", ("blank",)),
    ],
)
def test_the_nearest_public_callers(unit: str, callers: tuple[str, ...]) -> None:
    assert public_callers(TEXT, TEXT, unit) == callers


def test_a_caller_that_changes_too_is_none() -> None:
    assert public_callers(TEXT, TEXT.replace("_sum(_cells(rows))", "0 + _sum(_cells(rows))"), "_sum") == ()


def test_text_that_is_no_python_has_none() -> None:
    assert public_callers("def (", TEXT, "_sum") == ()

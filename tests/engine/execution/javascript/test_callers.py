"""Which exported functions and public methods stand for one that a module keeps to itself."""

from __future__ import annotations

import pytest

from stet_ls.engine.execution.javascript.callers import public_callers

TEXT = """\
export function total(rows) { return sum(cells(rows)); }

export const shown = (rows) => String(total(rows));

const cells = (rows) => rows.flatMap((row) => row.map(number));

function number(cell) { return Number(cell); }

function sum(values) { return values.reduce((a, b) => a + b, 0); }

function unused(values) { return values; }

export class Table {
  #rows;
  constructor(rows) { this.#rows = this._read(rows); }
  width() { return this.#longest(this.#rows); }
  _read(rows) { return rows; }
  #longest(rows) { return Math.max(...rows.map((row) => row.length)); }
}
"""
COMMON = """\
function total(rows) { return sum(rows); }
function sum(values) { return values.reduce((a, b) => a + b, 0); }
module.exports = { total };
"""


@pytest.mark.parametrize(
    ("unit", "callers"),
    [
        ("sum", ("total",)),
        ("number", ("total",)),
        ("unused", ()),
        ("total", ()),
        ("Table._read", ("Table",)),
        ("Table.#longest", ("Table.width",)),
        ("Table.width", ()),
    ],
)
def test_the_nearest_public_callers(unit: str, callers: tuple[str, ...]) -> None:
    assert public_callers(TEXT, TEXT, "javascript", unit) == callers


def test_exports_of_a_common_module() -> None:
    assert public_callers(COMMON, COMMON, "javascript", "sum") == ("total",)


def test_a_script_that_exports_nothing_keeps_nothing_to_itself() -> None:
    script = COMMON.replace("module.exports = { total };", "")
    assert public_callers(script, script, "javascript", "sum") == ()


def test_a_caller_that_changes_too_is_none() -> None:
    assert public_callers(COMMON, COMMON.replace("return sum(", "return 0 + sum("), "javascript", "sum") == ()

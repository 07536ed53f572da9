"""What is in the files that a code reads: tables with the columns, and records with the keys, that it asks for."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator

_MOST_KEYS, _MOST_SEPARATORS = 8, 4
_CELLS = ("1", "-2.5", "x", " a ", '"1,000.50"', "(0.50)", "", "0", "b", "2024-02-29")
_VALUES = ("a", 1, "b", None, 2.5, "", True, ["x"], 0)
_BOM = "\ufeff"


def contents_for(node: ast.AST) -> list[str]:
    """Texts for the files that a piece of code reads; none if it names no column, key or separator."""
    functions = [each.func for each in ast.walk(node) if isinstance(each, ast.Call)]
    called = {str(getattr(each, "attr", getattr(each, "id", ""))) for each in functions}
    keys = list(dict.fromkeys(_keys(node)))[:_MOST_KEYS]
    found: list[str] = []
    if called & {"DictReader", "reader"}:
        found += _tables(keys or ["a", "b"])
    if "loads" in called:
        found += _lines_of_records(keys or ["a", "b"])
    if "load" in called:
        found += [json.dumps(_records(keys or ["a", "b"])), json.dumps(_records(keys or ["a"])[0]), "[]", "{}", "{"]
    return found + list(_separated(node))


def _keys(node: ast.AST) -> Iterator[str]:
    for each in ast.walk(node):
        key: ast.expr | None = None
        if isinstance(each, ast.Subscript):
            key = each.slice
        elif isinstance(each, ast.Call) and getattr(each.func, "attr", "") in ("get", "pop") and each.args:
            key = each.args[0]
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            yield key.value


def _tables(keys: list[str]) -> list[str]:
    head = ",".join(keys)
    rows = [",".join(_CELLS[(row * 3 + at) % len(_CELLS)] for at in range(len(keys))) for row in range(8)]
    numbers = [",".join(_CELLS[(row + at) % 2] for at in range(len(keys))) for row in range(3)]
    return [
        "\n".join([head, *numbers, *numbers[:1], ""]), "\n".join([head, *rows, ""]), f"{head}\n",
        _BOM + "\n".join([head, *numbers, ""]), "\r\n".join([head, *numbers, "", *rows[:2]]),
        *("\n".join([head, row, row, ""]) for row in rows),
    ]  # fmt: skip


def _records(keys: list[str]) -> list[dict[str, object]]:
    return [{key: _VALUES[(row + at) % len(_VALUES)] for at, key in enumerate(keys) if (row + at) % 5 != 4}
            for row in range(6)]  # fmt: skip


def _lines_of_records(keys: list[str]) -> list[str]:
    lines = [json.dumps(each) for each in _records(keys)]
    return [
        "\n".join([*lines, ""]), "\n\n".join(lines), "\n".join([lines[0], "", "", lines[1][:-1], lines[2], ""]),
        "\n".join([lines[0], "[1]", "7", ""]), f"  {lines[0]}  \n\n",
    ]  # fmt: skip


def _separated(node: ast.AST) -> Iterator[str]:
    """Lines with what the code takes them apart at, and with the words that it names."""
    texts = [each.value for each in ast.walk(node) if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    words = [each for each in dict.fromkeys(texts) if each.isalnum()][:_MOST_SEPARATORS] or ["a"]
    signs = [each for each in dict.fromkeys(texts) if 0 < len(each) <= 3 and not each.isalnum() and each != "\n"]
    for sign in signs[:_MOST_SEPARATORS]:
        lines = [f"{words[n % len(words)]}{sign}{value}" for n, value in enumerate(("1", "b", "2", "b c", ""))]
        yield "\n".join([*lines, "", f"{sign}note", f"x{sign}y{sign}z", ""])

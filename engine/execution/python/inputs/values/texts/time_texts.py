"""Texts of dates and times, for code that parses them: `datetime.fromisoformat`, `strptime` with its format."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from stet_ls.engine.execution.inputs import strategies as st

_PARSERS = {"fromisoformat": "%Y-%m-%dT%H:%M:%S"}
_MONTHS, _DAYS, _HOURS = (1, 2, 5, 12), (1, 6, 7, 12, 28), (0, 8, 9, 16, 23)


def parsed_times(node: ast.AST) -> Iterator[tuple[ast.expr, str]]:
    """What a code parses as a date or a time, and the format."""
    for each in ast.walk(node):
        if not isinstance(each, ast.Call) or not each.args or not isinstance(each.func, ast.Attribute):
            continue
        form = _PARSERS.get(each.func.attr, "")
        if each.func.attr == "strptime" and len(each.args) > 1 and isinstance(each.args[1], ast.Constant):
            form = str(each.args[1].value)
        if form and getattr(each.func.value, "id", "") == "date":
            form = form.partition("T")[0]
        if form:
            yield each.args[0], form


def time_texts(form: str) -> st.SearchStrategy[str]:
    """Texts of times in a format, near each other so that some are equal and some are in order."""
    parts = st.tuples(*map(st.sampled_from, ((2024, 2024, 2023), _MONTHS, _DAYS, _HOURS, (0, 0, 15, 30))))
    return parts.map(lambda each: repr(_time(*each).strftime(form)))


def _time(year: int, month: int, day: int, hour: int, minute: int) -> datetime:
    return datetime(year, month, day, hour, minute, tzinfo=UTC)


def formats_of(node: ast.AST) -> Mapping[str, str]:
    """The format of each name that a code parses itself."""
    return {held.id: form for held, form in parsed_times(node) if isinstance(held, ast.Name)}

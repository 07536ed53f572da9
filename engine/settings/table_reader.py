"""Settings that are lists of tables, such as `[[models]]`: an invalid table is reported and ignored."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TypeVar

from pydantic import ValidationError

from stet_ls.engine.settings.keys import TABLES, unknown_key
from stet_ls.engine.settings.table_schemas import Section

Row = TypeVar("Row", bound=Section)


def read_tables(value: object, row: type[Row], name: str, place: str) -> tuple[tuple[Row, ...], list[str]]:
    """The rows of the list `name` found in `place`, and one sentence for each problem."""
    if not isinstance(value, list | tuple):
        return (), [f'"{name}" in {place}: expected tables headed [[{name}]]']
    rows: list[Row] = []
    problems: list[str] = []
    for index, table in enumerate(value):
        keys, dotted = TABLES[name], f"{name}[{index}]"
        if not isinstance(table, Mapping):
            problems.append(f'"{dotted}" in {place}: expected a table')
            continue
        problems += [unknown_key(f"{dotted}.{key}", str(key), keys, place) for key in table if key not in keys]
        try:
            known = {key: table[key] for key in table if key in keys}
            # JSON mode is strict about types and still takes a list where the model holds a tuple.
            rows.append(row.model_validate_json(json.dumps(known, default=str), strict=True))
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            field = str(first["loc"][0])
            own = first["msg"].removeprefix("Value error, ") if first["type"] == "value_error" else ""
            problems.append(f'"{dotted}.{field}" in {place}: {own or f"expected {keys[field].expected}"}')
    return tuple(rows), problems

"""Rows of a long measurement, kept in a file, so that a run continues where the last one stopped."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")
KeptRow = Mapping[str, Any]


async def rows_of(
    path: Path, wanted: Sequence[T], key: Callable[[T], str], make: Callable[[T], Awaitable[KeptRow]]
) -> list[KeptRow]:
    """The row of each that is wanted; those that the file `path` lacks are made and added to it, one by one."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    known = {row["key"]: row for row in map(json.loads, lines)}
    for each in wanted:
        name = key(each)
        if name not in known:
            known[name] = {"key": name, **await make(each)}
            with path.open("a", encoding="utf-8") as file:
                file.write(f"{json.dumps(known[name])}\n")
    return [known[key(each)] for each in wanted]

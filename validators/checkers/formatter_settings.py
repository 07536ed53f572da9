"""The settings of a project's formatter: the nearest file above a text, read as plain data and never run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from stet_ls.validators.project_files import read_regular, read_table

_LARGEST = 256_000


def above(path: Path | None, names: tuple[str, ...]) -> Iterator[Path]:
    """The files with one of the names, the nearest first, up to the root of the repository."""
    for folder in path.absolute().parents if path else ():
        yield from (folder / name for name in names if (folder / name).is_file())
        if (folder / ".git").exists():
            break


def nearest(path: Path | None, names: tuple[str, ...]) -> Path | None:
    """The nearest of them."""
    return next(above(path, names), None)


def contents(file: Path) -> bytes | None:
    """A settings file's bytes; None if it cannot be read."""
    try:
        return read_regular(file, most=_LARGEST)
    except OSError:
        return None


def table(file: Path) -> Mapping[str, Any]:
    """A TOML file's table; empty if it is not one."""
    try:
        return read_table(file)
    except (OSError, ValueError):
        return {}


def json_object(file: Path) -> Mapping[str, Any]:
    """A JSON file's object; empty if it is not one."""
    try:
        found = json.loads(contents(file) or b"")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def scalars(value: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The plain values of a table, in TOML syntax. Strings with anything but plain characters are left out."""
    for key, one in value.items():
        if isinstance(one, bool):
            yield key, str(one).lower()
        elif isinstance(one, int):
            yield key, str(one)
        elif isinstance(one, str) and one.replace("-", "").replace("_", "").isalnum():
            yield key, f"'{one}'"

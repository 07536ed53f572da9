"""Reads each source of settings into flat entries. `load` merges them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stet_ls.engine.settings.keys import KEYS, SECTIONS, VARIABLES
from stet_ls.validators.project_files import LARGEST_TABLE, parse_table, read_regular

NOT_SETTINGS = frozenset(
    {
        "STET_HOME",  # moves every folder
        "STET_MODELS_DIR",  # folder of the weights
        "STET_HUB",  # where weights are downloaded from
        "STET_TOKEN",  # the key of `stet serve --tcp` and `--ws`
        "STET_BASE_URL",  # with the next two: the endpoint in one line
        "STET_MODEL",
        "STET_API_KEY",
    }
)
"""Our variables that are not settings."""

_MOST_KEYS = 200
"""Keys of one file, several times the number of settings: each wrong one is looked up and reported."""


@dataclass(frozen=True, slots=True)
class SettingEntry:
    """One value as found. `place` is its location for messages: a file with its line, a variable, the editor."""

    name: str
    value: object
    place: str
    is_text: bool = False


@dataclass(frozen=True, slots=True)
class SettingsSource:
    """All entries of one origin. `trusted`: only the user writes it, so it may set every key."""

    origin: str
    entries: tuple[SettingEntry, ...] = ()
    trusted: bool = True
    problem: str = ""


def from_file(path: Path, *, origin: str, trusted: bool) -> SettingsSource:
    """The entries of a TOML file; none if no such file. An unusable file is a problem, not an exception."""
    try:
        text = read_regular(path, most=LARGEST_TABLE).decode("utf-8-sig")
        entries = tuple(_flatten(parse_table(text)))
        if len(entries) > _MOST_KEYS:
            return SettingsSource(
                origin, trusted=trusted, problem=f"{path} has more than {_MOST_KEYS} keys; file ignored"
            )
    except (FileNotFoundError, NotADirectoryError):
        return SettingsSource(origin, trusted=trusted)
    except OSError as error:
        return SettingsSource(origin, trusted=trusted, problem=f"cannot read {path}: {error.strerror}")
    except UnicodeDecodeError:
        return SettingsSource(origin, trusted=trusted, problem=f"{path} is not UTF-8 text; file ignored")
    except ValueError as error:
        reason = str(error)[:200]
        return SettingsSource(origin, trusted=trusted, problem=f"{path} is not valid TOML; file ignored: {reason}")
    return SettingsSource(
        origin, tuple(SettingEntry(name, value, _place(path, text, name)) for name, value in entries), trusted
    )


_EDITORS_OWN = ("server.", "trace.")
"""Keys in our section that belong to the editor: how the server is started, and what is logged of it."""


def from_mapping(values: Mapping[str, Any] | None, *, origin: str, trusted: bool) -> SettingsSource:
    """The entries of nested or dotted keys, from an editor or a command. None means "not set"."""
    found = _flatten(values or {})
    entries = (
        SettingEntry(name, value, origin)
        for name, value in found
        if value is not None and not f"{name}.".startswith(_EDITORS_OWN)
    )
    return SettingsSource(origin, tuple(entries), trusted)


def from_environment(environment: Mapping[str, str]) -> SettingsSource:
    """The entries of `STET_<SECTION>_<KEY>` variables; an empty variable counts as unset."""
    entries = []
    for variable, value in sorted(environment.items()):
        if not variable.startswith("STET_") or variable in NOT_SETTINGS or not value.strip():
            continue
        key = VARIABLES.get(variable)
        name = key.name if key else variable
        is_list = key is not None and key.schema.get("type") == "array"
        parsed = tuple(part.strip() for part in value.split(",") if part.strip()) if is_list else value.strip()
        entries.append(SettingEntry(name, parsed, variable, is_text=True))
    return SettingsSource("environment", tuple(entries))


def _flatten(values: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """All values by dotted names, in order; an empty section has none. No recursion: editors may nest deeply."""
    waiting = [*values.items()][::-1]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, Mapping) and (value or name in SECTIONS) and name not in KEYS:
            waiting += [(f"{name}.{key}", inner) for key, inner in value.items()][::-1]
        else:
            yield name, value


def _place(path: Path, text: str, name: str) -> str:
    line = line_of(text, name)
    return f"{path}, line {line}" if line else str(path)


_HEADER = re.compile(r"\s*\[\[?\s*([^\]]+?)\s*\]\]?")
_ASSIGNMENT = re.compile(r"""\s*([\w."'-]+)\s*=""")


def line_of(text: str, name: str) -> int:
    """The line (from 1, 0 if not found) that sets a dotted key, for messages: a search, not a parser."""
    table = ""
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            table = _plain(header[1]) + "."
            if table[:-1] == name:
                return number
        elif (assignment := _ASSIGNMENT.match(line)) and table + _plain(assignment[1]) == name:
            return number
    return 0


def _plain(key: str) -> str:
    return re.sub(r"""["'\s]""", "", key)

"""The tables under `[[actions]]`: those of the user's file apply, those of a project need the user's trust."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path

from stet_ls.engine.api.actions import ACTIONS
from stet_ls.engine.settings.sources import SettingEntry
from stet_ls.engine.settings.table_reader import read_tables
from stet_ls.engine.settings.table_schemas import ActionOrigin, ActionRow
from stet_ls.engine.storage.setting_files import PROJECT_FILE

MOST_ACTIONS = 50
"""Tables of one file; further ones are ignored."""

USER_FILE = "user file"
PROJECT = "project file"
"""The origins whose tables are used; an editor's settings may come from anywhere."""

Trusted = Callable[[Path, str], bool]


def read_actions(
    found: Sequence[tuple[str, SettingEntry]], project: Path | None, trusted: Trusted
) -> tuple[tuple[ActionRow, ...], list[str]]:
    """The rows of all files, each with its origin, and one sentence for each ignored table.

    `found` are the entries by their origin. A wrong table disables its action alone, and the first table with a name
    keeps it: no project replaces a user's action.
    """
    rows: list[ActionRow] = []
    problems: list[str] = []
    for origin, entry in found:
        if origin not in (USER_FILE, PROJECT):
            problems.append(f'"actions" in {entry.place} ignored: define actions in a settings file')
            continue
        value = entry.value
        if isinstance(value, list) and len(value) > MOST_ACTIONS:
            problems.append(f'"actions" in {entry.place}: more than {MOST_ACTIONS} tables; the rest is ignored')
            value = value[:MOST_ACTIONS]
        home = project if origin == PROJECT else None
        digest = hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()
        known = ActionOrigin(entry.place, home, digest, home is None or trusted(home, digest))
        for index, table in enumerate(value if isinstance(value, list) else [value]):
            named = _name(table, index)
            read, wrong = read_tables([table] if isinstance(value, list) else value, ActionRow, "actions", entry.place)
            wrong = [problem.replace('"actions[0]', f'"actions[{index}]', 1) + named for problem in wrong]
            if read and not wrong and (taken := _taken(read[0].name, rows)):
                wrong = [f'"actions[{index}].name" in {entry.place}: {taken}']
            problems += [f"{problem}; action ignored" for problem in wrong]
            rows += [] if wrong else [row.found_at(known) for row in read]
    return tuple(rows), problems


def project_file(origin: ActionOrigin) -> Path | None:
    """The file that a project's action comes from."""
    return None if origin.project is None else origin.project / PROJECT_FILE


def _name(table: object, index: int) -> str:
    name = table.get("name") if isinstance(table, dict) else None
    return f" (action {name!r})" if isinstance(name, str) and name else ""


def _taken(name: str, rows: Sequence[ActionRow]) -> str:
    if name in ACTIONS:
        return f"{name!r} is a built-in action; use another name"
    other = next((row for row in rows if row.name == name), None)
    return "" if other is None else f"the action {name!r} is already defined in {other.origin.place}; use another name"

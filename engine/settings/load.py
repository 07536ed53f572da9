"""Merges the sources: which value applies, where it comes from, and what is wrong."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from stet_ls.engine.errors import SettingsError
from stet_ls.engine.settings import providers, sources
from stet_ls.engine.settings.action_tables import read_actions
from stet_ls.engine.settings.keys import (
    KEYS,
    ROWS,
    SECTIONS,
    TABLES,
    VARIABLES,
    Key,
    SettableBy,
    suggestion,
    unknown_key,
)
from stet_ls.engine.settings.schema import Settings
from stet_ls.engine.settings.sources import SettingEntry, SettingsSource
from stet_ls.engine.settings.table_reader import read_tables
from stet_ls.engine.settings.table_schemas import ActionOrigin, ActionRow, Section
from stet_ls.engine.settings.trusted_projects import is_trusted
from stet_ls.engine.storage.paths import user_paths
from stet_ls.engine.storage.setting_files import PROJECT_FILE


@dataclass(frozen=True, slots=True)
class SettingRow:
    """One line of `stet config show`. A `refused` value was found at `origin` and is not in force."""

    key: str
    value: object
    origin: str
    refused: bool = False


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """The settings in force with a row per key and a sentence per problem; `broken` are those of actions' tables."""

    settings: Settings
    rows: tuple[SettingRow, ...]
    warnings: tuple[str, ...]
    broken: tuple[str, ...] = ()


def load(
    *,
    project: Path | None,
    editor: Mapping[str, Any] | None = None,
    editor_user: Mapping[str, Any] | None = None,
    arguments: Mapping[str, Any] | None = None,
    strict: bool = False,
    trust_project: bool = False,
) -> LoadedSettings:
    """Reads all sources. `project` is the folder of the project file.

    `editor` is what an editor sends for its workspace, `editor_user` what it reports as the user's settings. Neither
    may loosen anything: a project can have an editor send both. With `strict` (the command line) any problem raises
    SettingsError; without it (the server) it becomes a warning and the value is ignored. An unusable endpoint raises in
    both, a wrong table of actions in neither. With `trust_project` the project's actions need no earlier consent of the
    user.
    """
    environment = os.environ
    state = _State()
    for source in (
        sources.from_file(user_paths().config_file, origin="user file", trusted=True),
        sources.from_file(user_paths().model_file, origin="chosen model", trusted=True),
        SettingsSource("project file", trusted=False)
        if project is None
        else sources.from_file(project / PROJECT_FILE, origin="project file", trusted=False),
        sources.from_environment(environment),
        sources.from_mapping(editor_user, origin="editor user settings", trusted=False),
        sources.from_mapping(editor, origin="editor settings", trusted=False),
        sources.from_mapping(arguments, origin="command line", trusted=True),
    ):
        state.add(source)
    endpoints = state.endpoints(environment)
    if strict and state.problems:
        raise SettingsError("\n".join(state.problems))
    actions, broken = read_actions(state.actions, project, (lambda *_: True) if trust_project else is_trusted)
    state.tables["actions"] = actions
    settings = Settings.model_validate(_nested({name: value for name, (value, _) in state.values.items()}))
    tables = {"providers": tuple(endpoint.provider for endpoint in endpoints), **state.tables}
    settings = settings.model_copy(update=tables)
    rows = (*state.rows(settings), *_provider_rows(endpoints, state.providers_origin), *state.refused)
    return LoadedSettings(settings, rows, (*state.problems, *broken, *state.refusals), tuple(broken))


class _State:
    """The merged state of the sources read so far."""

    def __init__(self) -> None:
        self.values: dict[str, tuple[object, str]] = {}
        self.tables: dict[str, tuple[Section, ...]] = {}
        self.table_origins: dict[str, str] = {}
        self.problems: list[str] = []
        self.refusals: list[str] = []
        self.refused: list[SettingRow] = []
        self.providers_origin = "default"
        self._providers: SettingEntry | None = None
        self.actions: list[tuple[str, SettingEntry]] = []

    def add(self, source: SettingsSource) -> None:
        if source.problem:
            self.problems.append(source.problem)
        for entry in source.entries:
            self._add(entry, source)

    def _add(self, entry: SettingEntry, source: SettingsSource) -> None:
        key = KEYS.get(entry.name)
        origin = entry.place if entry.place == source.origin else f"{source.origin}: {entry.place}"
        if key is None:
            self.problems.append(_unknown(entry))
        elif not source.trusted and (reason := self._refusal(key, entry)) is not None:
            if reason:
                self.refusals.append(f'"{key.name}" in {entry.place} is ignored: {reason}')
                self.refused.append(SettingRow(key.name, shown_value(key.name, entry.value), origin, refused=True))
        elif key.name == "providers":
            self._providers, self.providers_origin = entry, origin
        elif key.name == "actions":
            self.actions.append((source.origin, entry))
        elif (row := ROWS.get(key.name)) is not None:
            self.tables[key.name], problems = read_tables(entry.value, row, key.name, entry.place)
            self.table_origins[key.name] = origin
            self.problems += problems
        elif (problem := _problem(key, entry)) is not None:
            self.problems.append(problem)
        else:
            self.values[key.name] = (_parsed(key, entry), origin)

    def _refusal(self, key: Key, entry: SettingEntry) -> str | None:
        """Why a source other than the user may not set a key (decided only here); "" for no change, None if it may."""
        if key.set_by in (SettableBy.ANYONE, SettableBy.TRUST):
            return None
        way = str(user_paths().config_file) + ("" if key.name in TABLES else f" or by {key.variable}")
        by_user = f"only the user may set it, in {way}"
        if key.name in TABLES or _problem(key, entry) is not None:
            return by_user if key.user_only else None
        held = self.values[key.name][0] if key.name in self.values else attrgetter(key.name)(Settings())
        value = _parsed(key, entry)
        if value == held:
            return ""
        if key.user_only:
            return by_user
        current = "unset" if held is None else json.dumps(held)
        stricter = f"it is {current}, and may only be made stricter here; the user may loosen it, in {way}"
        return stricter if key.loosens(value, held) else None

    def endpoints(self, environment: Mapping[str, str]) -> tuple[providers.ConfiguredEndpoint, ...]:
        one, problems = providers.from_variables(environment)
        if one is not None:
            self.providers_origin = "environment: STET_BASE_URL"
            return (one,)
        self.problems += problems
        if self._providers is None:
            return ()
        if not isinstance(self._providers.value, list | tuple):
            raise SettingsError(f'"providers" in {self._providers.place}: expected tables headed [[providers]]')
        found = []
        for index, table in enumerate(self._providers.value):
            endpoint, problems = providers.endpoint_of(table, index, self._providers.place, environment)
            found.append(endpoint)
            self.problems += problems
        return tuple(found)

    def rows(self, settings: Settings) -> Iterable[SettingRow]:
        for name in KEYS:
            if name not in TABLES:
                origin = self.values[name][1] if name in self.values else "default"
                yield SettingRow(name, shown_value(name, attrgetter(name)(settings)), origin)
        for name in ROWS:
            yield from _table_rows(name, self.tables.get(name, ()), self.table_origins.get(name, "default"))


def _table_rows(name: str, tables: tuple[Section, ...], origin: str) -> Iterable[SettingRow]:
    if not tables:
        yield SettingRow(name, [], origin)
    for index, table in enumerate(tables):
        place = _action_origin(table.origin) if isinstance(table, ActionRow) else origin
        for key, value in table.model_dump(exclude_defaults=True).items():
            yield SettingRow(f"{name}[{index}].{key}", value, place)


def _action_origin(origin: ActionOrigin) -> str:
    if origin.project is None:
        return f"user file: {origin.place}"
    return f"project file: {origin.place}{'' if origin.trusted else ' (not trusted; run `stet config trust`)'}"


def _unknown(entry: SettingEntry) -> str:
    if entry.name in SECTIONS:
        return f'"{entry.name}" in {entry.place}: expected a table'
    if entry.is_text:
        near = suggestion(entry.name, VARIABLES)
        return f"the environment variable {entry.place} is not a setting" + (f": {near}" if near else "")
    return unknown_key(entry.name, entry.name, KEYS, entry.place, otherwise=": run `stet config show` to list the keys")


def _problem(key: Key, entry: SettingEntry) -> str | None:
    try:
        _parsed(key, entry)
    except (ValidationError, ValueError):
        found = json.dumps(entry.value, default=str, ensure_ascii=False)
        found = found if len(found) <= 60 else f"{found[:60]}..."
        return f'"{key.name}" in {entry.place}: expected {key.expected}, found {found}'
    return None


def _parsed(key: Key, entry: SettingEntry) -> object:
    """The value as the model holds it. Files and editors must give the right type; variables are text."""
    nested = _nested({key.name: entry.value})
    if entry.is_text:
        return attrgetter(key.name)(Settings.model_validate(nested))
    # JSON mode is strict about types and still takes a list where the model holds a tuple.
    return attrgetter(key.name)(Settings.model_validate_json(json.dumps(nested, default=str), strict=True))


def _nested(values: Mapping[str, object]) -> dict[str, Any]:
    root: dict[str, Any] = {}
    for name, value in values.items():
        *tables, last = name.split(".")
        table = root
        for part in tables:
            table = table.setdefault(part, {})
        table[last] = value
    return root


def shown_value(name: str, value: object) -> object:
    """A value as `config show` may print it: addresses without passwords, endpoints as their number."""
    if name == "providers":
        return f"{len(value)} of them" if isinstance(value, list | tuple) else "not a list"
    if isinstance(value, str) and "://" in value:
        return providers.shown_url(value)
    return list(value) if isinstance(value, tuple) else value


def _provider_rows(endpoints: Collection[providers.ConfiguredEndpoint], origin: str) -> Iterable[SettingRow]:
    if not endpoints:
        yield SettingRow("providers", [], origin)
    for index, endpoint in enumerate(endpoints):
        for name, value in endpoint.provider.model_dump(exclude_defaults=True).items():
            yield SettingRow(f"providers[{index}].{name}", shown_value(name, value), origin)
        key = f"set (from {endpoint.key_origin})" if endpoint.key_origin else "not set"
        yield SettingRow(f"providers[{index}].api_key", key, origin)

"""Who may set which key: a project's file and an editor never loosen, hide or spend what their user did not allow.

Each key of the settings is in one of the four tables below, with a value that a project's author might like.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from pages.settings_page import settings_page

from stet_ls.engine.settings import KEYS, TABLES, LoadedSettings, SettableBy, load
from stet_ls.engine.settings.schema import Settings

USER: dict[str, Any] = {
    "providers": [{"name": "evil", "base_url": "http://evil.example/v1"}],
    "models": [{"name": "*", "max_tokens": 16}],
    "sandbox.minimum_level": "none",
    "sandbox.backend": "podman:evil",
    "trace.enabled": False,
    "trace.keep": 1,
    "metrics_port": 1,
    "sandbox.python": "./python",
    "sandbox.packages": ["evil"],
    "sandbox.package_days": 0,
    "sandbox.environments_mb": 64000,
    "jobs_at_once": 1000,
    "spending.daily_tokens": 10**9,
    "spending.daily_cost": 1e9,
    "spending.job_cost": 1e9,
    "memory.uri": "s3://evil/",
    "memory.enabled": False,
    "memory.team_uri": "s3://evil/",
    "memory.team_access": "write",
    "memory.stands_seconds": 1,
    "memory.scope": "global",
    "memory.max_solutions": 1,
    "memory.embedder": "endpoint",
    "memory.embedding_model": "evil",
    "memory.embedding_url": "http://evil/",
    "memory.embedding_key_env": "EVIL",
    "memory.idle_seconds": 10,
    "log.prompts": True,
    "log.level": "error",
    "log.format": "json",
    "editor.verify_on_save": True,
    "editor.inline_completion": True,
    "model.embedded": "off",
    "model.discover": False,
    "model.threads": 64,
    "model.breaker_failures": 1000,
    "model.breaker_seconds": 0.1,
    "checks.validation": False,
    "checks.coverage": True,
    "checks.review": "off",
    "checks.disabled_tools": ["ruff"],
    "checks.trusted_workspaces": ["/"],
    "checkers": [{"language": "python", "argv": ["curl"]}],
    "programs": [{"name": "gofmt", "path": "gofmt"}],
    "privacy.loopback": "allow",
    "privacy.private": "allow",
    "privacy.public": "allow",
    "privacy.ignore": ["!.env"],
}
"""What only its user may set, with a value that a project would like."""

TIGHTEN: dict[str, tuple[Any, Any]] = {
    "deadline": (1e9, 5.0),
    "model.max_tokens": (10**9, 100),
    "model.cache_days": (365.0, 7.0),
    "model.idle_seconds": (1e9, 60.0),
    "checks.auto_fix": (None, False),
    "checks.fix_attempts": (1, 0),
    "model.cache": (None, False),
    "checks.search": (None, False),
    "checks.example_calls": (None, False),
    "checks.format_edits": (None, False),
    "memory.min_score": (0.0, 0.9),
    "editor.preview": ("never", "always"),
}
"""What others may only make stricter: a looser value than the default (None: there is none), and a stricter one."""

ANYONE: dict[str, Any] = {
    "model.temperature": 1.0,
    "checks.live": False,
    "checks.live_off": ["go"],
    "checks.live_yield": False,
    "checks.findings": False,
    "editor.code_lens": False,
}
"""What anyone may set."""

TRUST = {"actions"}
"""What a project may set, and it waits for its user's trust (`test_custom`)."""

Load = Callable[[Mapping[str, Any]], LoadedSettings]


@pytest.fixture(params=["project file", "editor settings", "editor user settings"])
def opened(request: pytest.FixtureRequest, stet_home: Path, tmp_path: Path) -> Load:
    """Loads what someone other than the user says, by each of the ways that lead in from an opened folder."""

    def from_file(values: Mapping[str, Any]) -> LoadedSettings:
        (tmp_path / ".stet.toml").write_text("".join(f"{key} = {toml(value)}\n" for key, value in values.items()))
        return load(project=tmp_path)

    ways: dict[str, Load] = {
        "project file": from_file,
        "editor settings": lambda values: load(project=None, editor=values),
        "editor user settings": lambda values: load(project=None, editor_user=values),
    }
    return ways[request.param]


def toml(value: Any) -> str:
    """A value as TOML writes it."""
    if isinstance(value, list):
        return f"[{', '.join(map(toml, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {toml(each)}" for key, each in value.items()) + "}"
    return json.dumps(value)


def held(loaded: LoadedSettings, key: str) -> Any:
    """The value in force."""
    value: Any = loaded.settings
    for part in key.split("."):
        value = getattr(value, part)
    return list(value) if isinstance(value, tuple) else value


def test_every_key_says_who_may_set_it() -> None:
    """A key without a mark is its user's, which may be right; that no one thought of it is not."""
    unmarked = [name for name, key in KEYS.items() if "set_by" not in key.schema]
    assert unmarked == []
    assert all(key.schema.get("stricter") for key in KEYS.values() if key.set_by is SettableBy.TIGHTEN)


@pytest.mark.parametrize(
    ("set_by", "keys"),
    [(SettableBy.USER, USER), (SettableBy.TIGHTEN, TIGHTEN), (SettableBy.ANYONE, ANYONE), (SettableBy.TRUST, TRUST)],
)
def test_the_tables_of_this_test_name_every_key(set_by: SettableBy, keys: Any) -> None:
    assert set(keys) == {key.name for key in KEYS.values() if key.set_by is set_by}


@pytest.mark.parametrize("key", USER)
def test_a_key_of_the_user_is_refused_from_any_other_source(key: str, opened: Load, stet_home: Path) -> None:
    loaded = opened({key: USER[key]})

    assert loaded.settings == Settings()
    if key.startswith("trace.") and not loaded.warnings:
        return  # what editors keep under that name is theirs, and is not read at all
    way = "" if key in TABLES else f" or by {KEYS[key].variable}"
    [warning] = loaded.warnings
    assert re.fullmatch(
        rf'"{key}" in .+ is ignored: only the user may set it, in {stet_home / "config.toml"}{way}', warning
    )
    assert [row.key for row in loaded.rows if row.refused] == [key]


@pytest.mark.parametrize("key", [key for key, (loose, _) in TIGHTEN.items() if loose is not None])
def test_only_the_user_can_loosen_a_default(key: str, opened: Load) -> None:
    loaded = opened({key: TIGHTEN[key][0]})

    assert loaded.settings == Settings()
    [warning] = loaded.warnings
    assert warning.startswith(f'"{key}" in ')
    assert "may only be made stricter here" in warning
    assert [row.key for row in loaded.rows if row.refused] == [key]


@pytest.mark.parametrize("key", TIGHTEN)
def test_only_the_user_can_loosen_a_stricter_value_of_the_user(
    key: str, opened: Load, stet_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stricter, default = TIGHTEN[key][1], KEYS[key].default
    (stet_home / "config.toml").write_text(f"{key} = {toml(stricter)}\n")
    loose = 5 if default is None else default

    loaded = opened({key: loose})

    assert held(loaded, key) == stricter
    assert len(loaded.warnings) == 1


@pytest.mark.parametrize("key", TIGHTEN)
def test_any_source_may_be_stricter(key: str, opened: Load) -> None:
    loaded = opened({key: TIGHTEN[key][1]})

    assert held(loaded, key) == TIGHTEN[key][1]
    assert loaded.warnings == ()


@pytest.mark.parametrize("key", ANYONE)
def test_keys_that_any_source_may_set_are_applied(key: str, opened: Load) -> None:
    loaded = opened({key: ANYONE[key]})

    assert held(loaded, key) == ANYONE[key]
    assert loaded.warnings == ()


@pytest.mark.parametrize("key", [key for key in (*USER, *TIGHTEN) if key not in TABLES])
def test_a_project_cannot_override_a_later_value_of_the_user(
    key: str, stet_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A variable overrides the project's file, whichever way that goes."""
    loose, stricter = TIGHTEN.get(key, (USER.get(key), None))
    mine = loose if loose is not None else KEYS[key].default
    monkeypatch.setenv(KEYS[key].variable, ",".join(mine) if isinstance(mine, list) else str(mine))
    if stricter is not None:
        (tmp_path / ".stet.toml").write_text(f"{key} = {toml(stricter)}\n")

    assert held(load(project=tmp_path), key) == mine


@pytest.mark.parametrize("key", [*USER, *TIGHTEN])
@pytest.mark.parametrize("trusted", [False, True])
def test_the_table_of_an_action_cannot_loosen_a_setting(
    key: str, trusted: bool, stet_home: Path, tmp_path: Path
) -> None:
    value = TIGHTEN[key][0] if key in TIGHTEN else USER[key]
    (tmp_path / ".stet.toml").write_text(
        f'[[actions]]\nname = "evil"\ntitle = "Evil"\ninstruction = "Tidy."\n{key} = {toml(value)}\n'
        if value is not None
        else ""
    )

    loaded = load(project=tmp_path, trust_project=trusted)

    assert loaded.settings.model_copy(update={"actions": ()}) == Settings()
    assert loaded.settings.actions == (), "a table with a key that is none of an action's is left out"


def test_an_editor_key_equal_to_the_effective_value_is_not_reported(stet_home: Path) -> None:
    """An editor that hands over its user's scope repeats what the server was started with."""
    (stet_home / "config.toml").write_text("[privacy]\npublic = 'refuse'\n")

    loaded = load(project=None, editor={"privacy": {"public": "refuse"}, "deadline": 30.0})

    assert loaded.warnings == ()
    assert loaded.settings.privacy.public == "refuse"


def test_forbidden_keys_of_a_project_file_are_refused_and_the_rest_applied(stet_home: Path, tmp_path: Path) -> None:
    file = tmp_path / ".stet.toml"
    file.write_text('deadline = 9\n[sandbox]\nminimum_level = "none"\n[[providers]]\nname = "evil"\n')

    loaded = load(project=tmp_path, strict=True)

    assert loaded.settings.providers == ()
    assert loaded.settings.sandbox.minimum_level == "strong"
    assert loaded.settings.deadline == 9
    assert {row.key for row in loaded.rows if row.refused} == {"sandbox.minimum_level", "providers"}
    assert all(str(file) in warning for warning in loaded.warnings)


def test_the_reference_shows_who_may_set_each_key() -> None:
    signs = {SettableBy.USER: "🔒", SettableBy.TIGHTEN: "🔽", SettableBy.ANYONE: "|  |"}
    rows = [line for line in settings_page().splitlines() if line.startswith("| `")]
    for name, key in KEYS.items():
        if name not in TABLES:
            [row] = [line for line in rows if line.startswith(f"| `{name}` ")]
            assert signs[key.set_by] in row[-40:], row

"""The reference of the settings and their schemas: all from one model."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from stet_ls.engine.settings import KEYS, PROVIDER_KEYS, TABLES, Key, SettableBy
from stet_ls.engine.settings.schema import Settings
from stet_ls.server.cli.config import sections


def settings_schema() -> dict[str, Any]:
    """The JSON schema of a settings file, for editors that complete TOML."""
    schema = Settings.model_json_schema()
    schema["$defs"]["Provider"]["properties"].pop("api_key")  # filled from the environment, never from a file
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "Stet settings"}


def editor_schema() -> dict[str, Any]:
    """The settings as an editor's flat properties (`contributes.configuration` of VS Code's package.json).

    Only switches have a default, since VS Code shows a checkbox for nothing else; our extension sends what is
    set. Keys that only the user may set have the scope "machine", so that VS Code reads them from no workspace.
    """
    return {f"stet.{key.name}": _editor_property(key) for key in _in_vscode()}


def user_variables() -> Mapping[str, str]:
    """The editor's keys that count only if the user set them, with the variable that reports this to the server.

    VS Code's extension starts the server with them: later settings may have been read from the opened folder.
    """
    return {f"stet.{key.name}": key.variable for key in _in_vscode() if key.set_by is not SettableBy.ANYONE}


def _in_vscode() -> Iterator[Key]:
    return (key for key in KEYS.values() if key.name not in TABLES)


def _editor_property(key: Key) -> dict[str, Any]:
    shape = key.schema["anyOf"][0] if "anyOf" in key.schema else key.schema
    kept = ("type", "enum", "items", "minimum", "maximum", "exclusiveMinimum")
    value = {name: shape[name] for name in kept if name in shape}
    if "enum" in value:
        value["enum"] = [*value["enum"], None]
    if value["type"] == "boolean":
        value |= {"default": key.default}
    else:
        value |= {"type": [value["type"], "null"], "default": None}
    tightened = " A workspace may only make it stricter." if key.set_by is SettableBy.TIGHTEN else ""
    return {
        **value,
        "scope": "machine" if key.user_only else "resource",
        "description": f"{key.description} Default: {_default(key)}.{tightened}",
    }


def settings_page() -> str:
    """The reference of all settings."""
    return f"""\
# Settings

This page is generated from the settings model by `python tests/pages`.

Each source overrides those before it, key by key:

1. the defaults below
2. the user file: `$STET_HOME/config.toml`, else `config.toml` in the platform's configuration folder `stet`
3. the model that was chosen with `stet.setup`
4. the project file: `.stet.toml`
5. the environment: `STET_` and the key in capitals, `STET_MODEL_TEMPERATURE=0.1` (lists: separated by commas)
6. the editor's settings, section `stet`
7. the arguments of the command

`stet config show` prints every key with its value and where it came from; `stet config init` writes a user file to
edit. A misspelt key is a warning in an editor and an error (exit status 2) on the command line.

## Who may set what

You may set every key: in the user file, by a variable, on the command line. A project file, and whatever an editor
sends (its settings can come from the opened folder, and so can its `initializationOptions`, `userSettings` in them
included), may set a key as its last column says:

| | a project file and an editor may set it |
|---|---|
{"".join(f"| {mark} | {words} |" + chr(10) for mark, words in _SETTERS.values())}
Everything else they say is ignored, with a warning that names the key. In VS Code what you set for all folders goes to
the server as variables, so there every key can be set in the user settings. In other editors use the user file, or give
the server variables (Neovim: `cmd_env = {{ STET_EDITOR_PREVIEW = "never" }}`).

## One endpoint in one line

`STET_BASE_URL` (with the version path, `http://127.0.0.1:11434/v1`), `STET_MODEL` and `STET_API_KEY` define one
endpoint; then no other is asked. Without `STET_API_KEY`, `OPENAI_API_KEY` and `OPENAI_ORG_ID` are taken. Without
`STET_BASE_URL` none of them is read.

{"".join(_section(title, name, keys) for title, name, keys in sections())}\
## Endpoints

`[[providers]]` 🔒, one table for each, in the order in which they are asked. Keys stay out of files: `api_key_env`
names the variable that holds one, `api_key_keyring` an entry of the system's keyring. What happens when one of them
fails is described in [providers.md](providers.md).

{_table(PROVIDER_KEYS.values())}
## Single models

`[[models]]` 🔒, one table for each name or pattern, and for each role if they differ. The last one that fits wins, key
by key; it overrides `[model]` and what `stet model probe` measured.

{_table(TABLES["models"].values())}
## Checkers, linters and formatters of your own

`[[checkers]]` 🔒, one table for each. They come before the built-in ones of the language ([all](checkers.md)).

```toml
[[checkers]]
language = "terraform"
argv = ["tflint-wrapper", "{{file}}"]
pattern = '^[^:]+:(?P<line>\\d+):(?P<column>\\d+): (?P<severity>error|warning): (?P<message>.+)$'
```

{_table(TABLES["checkers"].values())}
`[[programs]]` 🔒 says what to start for a built-in tool instead of what PATH has.

{_table(TABLES["programs"].values())}
## Actions of your own

`[[actions]]` ❓, one table for each, in the user file or in the project's; a project's wait for your trust
([how they work](actions.md)). A wrong table disables its action alone.

{_table(TABLES["actions"].values())}
## Variables that are no settings

| variable | what it does |
|---|---|
| `STET_HOME` | moves settings, data, caches and logs into one folder; jobs run even where it cannot be written |
| `STET_MODELS_DIR` | where the embedded model's weights lie |
| `STET_HUB` | another address from which weights are fetched |
| `STET_TOKEN` | the token of `stet serve --tcp` and `--ws` |
"""


def _section(title: str, table: str, keys: Iterable[Key]) -> str:
    heading = f"## `[{table}]` {title}" if table else f"## {title}"
    return f"{heading}\n\n{_table(keys)}\n"


_SETTERS: Mapping[SettableBy, tuple[str, str]] = {
    SettableBy.ANYONE: ("", "to any value"),
    SettableBy.TIGHTEN: ("🔽", "to a stricter value than yours, in the direction that stands there"),
    SettableBy.TRUST: ("❓", "and nothing of it runs before you have trusted it"),
    SettableBy.USER: ("🔒", "never"),
}
"""The sign of each kind of key, and its meaning."""


def _table(keys: Iterable[Key]) -> str:
    rows = ["| key | value | default | | |", "|---|---|---|---|---|"]
    rows += [
        f"| `{key.name}` | {key.expected} | `{_default(key)}` | {key.description} | {_setters(key)} |" for key in keys
    ]
    return "\n".join(rows) + "\n"


def _setters(key: Key) -> str:
    """Who else may set a key; keys of a table's rows follow their table."""
    if key.name not in KEYS:
        return ""
    return " ".join(filter(None, (_SETTERS[key.set_by][0], _direction(key))))


def _direction(key: Key) -> str:
    """The direction in which others may change a key, in a word or two."""
    if key.set_by is not SettableBy.TIGHTEN:
        return ""
    stricter = key.schema["stricter"]
    return stricter if isinstance(stricter, str) else " < ".join(f"`{json.dumps(value)}`" for value in stricter)


def _default(key: Key) -> str:
    if key.default is None:
        return "required" if key.name in _REQUIRED else "unset"
    return json.dumps(key.default, ensure_ascii=False)


_REQUIRED = ("name", "base_url", "language", "argv", "path", "title", "instruction")

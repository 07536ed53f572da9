"""`stet config show|trust|init`: shows the settings in force and their origins; writes a first file to edit."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from stet_ls.engine.errors import UsageError
from stet_ls.engine.settings import KEYS, PROJECT_FILE, TABLES, Key, SettingRow, find_project, load
from stet_ls.engine.settings.schema import Settings
from stet_ls.engine.settings.trusted_projects import trust
from stet_ls.engine.storage.paths import user_paths
from stet_ls.server.cli.terminal import render
from stet_ls.server.cli.terminal.status import print_status, print_warning


def configure(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    verbs = parser.add_subparsers(dest="verb", required=True)
    show = verbs.add_parser("show", help="show each key with its value and origin")
    show.add_argument("--json", action="store_true", help="print the settings as JSON")
    verbs.add_parser("trust", help="trust the actions that this project defines, in their present form")
    verbs.add_parser("init", help="create a settings file with every key commented out")


def run(arguments: argparse.Namespace) -> int:
    """Shows or writes settings, or remembers trust in the project."""
    if arguments.verb == "show":
        return _show(as_json=arguments.json)
    return _trust() if arguments.verb == "trust" else _init()


def _trust() -> int:
    here = Path.cwd()
    project = find_project(here, below=here)
    loaded = load(project=project)
    for problem in loaded.broken:
        print_warning(problem)
    actions = [row for row in loaded.settings.actions if row.origin.project is not None]
    if project is None or not actions:
        raise UsageError(f"nothing to trust: no {PROJECT_FILE} here defines an action")
    trust(project, actions[0].origin.digest)
    for row in actions:
        render.print_line(f"{row.name}: {row.title}")
        render.print_line(f"    {row.instruction}")
    print_status(f"trusted {len(actions)} actions of {project / PROJECT_FILE} until one of them changes")
    return 0


def _show(*, as_json: bool) -> int:
    # Not strict: to find a mistake, the user has to see the rest; an error still decides the exit status.
    here = Path.cwd()
    loaded = load(project=find_project(here, below=here))
    if as_json:
        print(json.dumps([asdict(row) for row in loaded.rows], ensure_ascii=False, indent=2))
    else:
        render.print_table([_columns(row) for row in loaded.rows])
    for warning in loaded.warnings:
        print_warning(warning)
    return UsageError.exit_code if len(loaded.warnings) > sum(row.refused for row in loaded.rows) else 0


def _columns(row: SettingRow) -> tuple[str, str, str]:
    value = row.value if isinstance(row.value, str) else json.dumps(row.value, ensure_ascii=False)
    return row.key, value, f"refused, from {row.origin}" if row.refused else row.origin


def _init() -> int:
    path = user_paths().config_file
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(starter_file())
    except FileExistsError:
        raise UsageError(f"{path} already exists; not overwritten") from None
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None
    render.print_line(str(path))
    return 0


def starter_file() -> str:
    """A user file with every key commented out at its default."""
    lines = [
        "# Stet's settings. Every line is a comment that shows the default; take the # away to change it.",
        "# The reference: docs/settings.md. What is in force, and from where: stet config show",
        "",
    ]
    for _, table, keys in sections():
        if table:
            lines.append(f"[{table}]")
        for key in keys:
            value = "..." if key.default is None else json.dumps(key.default)
            lines += [f"# {key.description} ({key.expected})", f"# {key.name.rpartition('.')[2]} = {value}"]
        lines.append("")
    lines += [
        "# An endpoint; the first that answers is used. Repeat the table for more.",
        "# [[providers]]",
        '# name = "local"',
        '# base_url = "http://127.0.0.1:11434/v1"',
        '# model = "qwen2.5-coder:7b"',
        '# api_key_env = "LOCAL_API_KEY"',
        "",
        "# What you know better about a model. Repeat the table for more.",
        "# [[models]]",
        '# name = "qwen2.5-coder*"',
        "# temperature = 0.1",
        "# max_tokens = 2000",
        "",
    ]
    return "\n".join(lines)


def sections() -> Iterator[tuple[str, str, list[Key]]]:
    """Title, table name and keys of each section, in the order of the model."""
    grouped: dict[str, list[Key]] = {}
    for key in KEYS.values():
        if key.name not in TABLES:
            grouped.setdefault(key.name.rpartition(".")[0], []).append(key)
    for table, keys in grouped.items():
        title = Settings.model_fields[table].description if table else "Outside of any table"
        yield (title or table).rstrip("."), table, keys

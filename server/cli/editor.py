"""`stet editor NAME`: prints the configuration for an editor, or installs the plugin that Stet ships for it."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from importlib import resources
from importlib.resources.abc import Traversable

from stet_ls.editors import PLACES
from stet_ls.engine.errors import UsageError
from stet_ls.server.cli.agents.config_files.config_place import this_program
from stet_ls.server.cli.command_table import did_you_mean
from stet_ls.server.cli.editor_install import INSTALLERS, shipped

FOLDER = "@EDITORS@"
"""Stands in a configuration for the folder of the plugins."""

PROGRAM = "@STET@"
"""Stands there, in quotation marks, for the program that prints it: `PATH` does not matter then."""

PROGRAMS: Mapping[str, str] = {
    "neovim": "nvim",
    "vim": "vim",
    "vscode": "code",
    "emacs": "emacs",
    "helix": "hx",
    "kate": "kate",
    "sublime": "subl",
    "zed": "zed",
}
"""Other names of editors: their programs."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument("name", nargs="?", metavar="NAME", help="editor name [default: list all]")
    changes = parser.add_mutually_exclusive_group()
    changes.add_argument("--install", action="store_true", help="install the plugin: neovim, vscode")
    changes.add_argument("--remove", action="store_true", help="remove the installed plugin")
    parser.add_argument("--dry-run", action="store_true", help="show what would be installed or removed")


def run(arguments: argparse.Namespace) -> int:
    """Prints the editor's configuration, and on standard error where to put it; or the names of all editors.

    With `--install` or `--remove` it changes the editor's plugin, and prints what it did.
    """
    configurations = known()
    names = sorted({*configurations, *INSTALLERS})
    if arguments.name is None:
        print("\n".join(names))
        return 0
    name = next((editor for editor, program in PROGRAMS.items() if program == arguments.name), arguments.name).lower()
    if name not in names:
        raise UsageError(f"unknown editor `{arguments.name}`: {did_you_mean(name, names)}")
    if arguments.install or arguments.remove:
        return _change(name, removes=arguments.remove, dry_run=arguments.dry_run)
    resource = configurations.get(name)
    if resource is None:
        raise UsageError(f"`{name}` takes a plugin, not a configuration", hint=f"stet editor {name} --install")
    place = PLACES.get(name)
    if place is not None:
        print(place, file=sys.stderr)
    text = resource.read_text(encoding="utf-8").replace(FOLDER, shipped("emacs").parent.as_posix())
    text = text.replace(f'"{PROGRAM}"', " ".join(json.dumps(word) for word in this_program().words))
    sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
    return 0


def _change(name: str, *, removes: bool, dry_run: bool) -> int:
    installer = INSTALLERS.get(name)
    if installer is None:
        raise UsageError(f"Stet has no plugin for `{name}`", hint=f"`stet editor {name}` prints its configuration")
    for line in (installer.remove if removes else installer.install)(dry_run):
        print(line)
    return 0


def known() -> Mapping[str, Traversable]:
    """The shipped configurations by the name of their editor: the file name without its extension."""
    found = (file for file in resources.files("stet_ls.editors").iterdir() if file.is_file())
    files = (file for file in found if not file.name.startswith((".", "_")))
    return {file.name.partition(".")[0].lower(): file for file in sorted(files, key=lambda file: file.name)}

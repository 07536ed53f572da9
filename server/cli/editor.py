"""`stet editor NAME`: prints the configuration for an editor, as shipped with Stet."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from importlib import resources
from importlib.resources.abc import Traversable

from stet_ls.editors import PLACES
from stet_ls.engine.errors import UsageError
from stet_ls.server.cli.command_table import did_you_mean

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


def run(arguments: argparse.Namespace) -> int:
    """Prints the editor's configuration, and on standard error where to put it; or the names of all editors."""
    configurations = known()
    if arguments.name is None:
        print("\n".join(configurations))
        return 0
    name = next((editor for editor, program in PROGRAMS.items() if program == arguments.name), arguments.name).lower()
    if name == "vscode":
        raise UsageError(
            "VS Code uses an extension: run `make vsix` in Stet's source to build editors/vscode/stet.vsix"
        )
    resource = configurations.get(name)
    if resource is None:
        hint = did_you_mean(name, configurations)
        raise UsageError(f"unknown editor `{arguments.name}`: {hint}")
    place = PLACES.get(name)
    if place is not None:
        print(place, file=sys.stderr)
    text = resource.read_text(encoding="utf-8")
    sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
    return 0


def known() -> Mapping[str, Traversable]:
    """The shipped configurations by the name of their editor: the file name without its extension."""
    found = (file for file in resources.files("stet_ls.editors").iterdir() if file.is_file())
    files = (file for file in found if not file.name.startswith((".", "_")))
    return {file.name.partition(".")[0].lower(): file for file in sorted(files, key=lambda file: file.name)}

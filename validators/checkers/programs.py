"""Where a tool's program is: set by the user, installed with this package, or on PATH. Never in a project by itself."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from stet_ls.validators.toolbox import Toolbox


@dataclass(frozen=True, slots=True)
class Program:
    """A program's file. `stamp` changes when another version takes its place."""

    path: Path
    stamp: str


def find(program: str, tools: Toolbox, *, name: str, path: Path | None) -> Program | None:
    """The program that is started for the tool `name` on a text at `path`; None where it is missing or disabled.

    The user's choice comes first, and if it is not there no other program takes its place. PATH is searched without
    relative folders and without what lies in the text's own project, unless that is trusted: a project could bring a
    `gofmt` of its own. An absolute path needs no search.
    """
    if not tools.allows(name):
        return None
    chosen = dict(tools.programs).get(name)
    if chosen is not None:
        return _program(chosen.expanduser())
    if Path(program).is_absolute():
        return _program(Path(program))
    project = None if path is None or tools.trusts(path) else _project(path)
    for folder in map(Path, os.get_exec_path()):
        if not folder.is_absolute() or (project is not None and folder.resolve().is_relative_to(project)):
            continue
        if found := shutil.which(program, path=str(folder)):
            return _program(Path(found))
    # A wheel's program stands beside the interpreter, which need not be on PATH.
    beside = shutil.which(program, path=str(Path(sys.executable).parent))
    return _program(Path(beside)) if beside else None


_MARKS = (".git", "pyproject.toml", "package.json", "Cargo.toml", "go.mod", "compile_commands.json")


def _project(path: Path) -> Path | None:
    """The outermost folder above a text that looks like its project's. A home is no project."""
    home = Path.home()
    found = [folder for folder in path.absolute().parents if any((folder / mark).exists() for mark in _MARKS)]
    return next((folder.resolve() for folder in reversed(found) if folder != home and folder not in home.parents), None)


def of_workspace(relative: str, path: Path | None, tools: Toolbox) -> Path | None:
    """The nearest file of that name at or above a text's folder, if its workspace was declared trusted.

    `relative` is a path such as "node_modules/typescript". The search does not leave the trusted folder.
    """
    if path is None:
        return None
    for root in tools.trusted_roots:
        if not path.absolute().is_relative_to(root):
            continue
        for folder in path.absolute().parents:
            if (folder / relative).exists():
                return folder / relative
            if folder == root:
                break
    return None


def _program(path: Path) -> Program | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return Program(path, f"{found.st_mtime_ns} {found.st_size}") if path.is_file() else None

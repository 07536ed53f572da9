"""Finds a tool's program: set by the user, installed with this package, or on PATH. Never in an untrusted project."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from stet_ls.validators.checkers.toolbox import BUILT_IN, Toolbox
from stet_ls.validators.containment import is_inside, is_inside_any, real_path


@dataclass(frozen=True, slots=True)
class ToolProgram:
    """A program's file. `stamp` changes with its version."""

    path: Path
    stamp: str


def find(program: str, tools: Toolbox, *, name: str, path: Path | None) -> ToolProgram | None:
    """The program that is started for the tool `name` on a text at `path`; None if it is missing or disabled.

    The user's choice comes first, and if it is missing no other program replaces it. PATH is searched without the
    folders of untrusted projects: a project could contain its own `gofmt`. An absolute path needs no search.
    """
    if not tools.allows(name):
        return None
    chosen = dict(tools.programs).get(name)
    if chosen is not None:
        return _program(chosen.expanduser())
    if Path(program).is_absolute():
        return _program(Path(program))
    if found := on_path(program, tools, path=path):
        return _program(found)
    # A wheel's program is next to the interpreter, which need not be on PATH.
    next_to_python = shutil.which(program, path=str(Path(sys.executable).parent))
    return _program(Path(next_to_python)) if next_to_python else None


def on_path(program: str, tools: Toolbox = BUILT_IN, *, path: Path | None = None) -> Path | None:
    """The first program of that name on PATH outside untrusted projects."""
    projects = _untrusted(tools, path)
    return next((found for found in _named(program) if not _is_of(found, projects, tools)), None)


def untrusted_program(program: str, tools: Toolbox = BUILT_IN) -> Path | None:
    """The first program of that name on PATH, if it is in an untrusted project and so is not started."""
    if program in dict(tools.programs) or (first := next(_named(program), None)) is None:
        return None
    return first if _is_of(first, _untrusted(tools, None), tools) else None


def search_path(tools: Toolbox = BUILT_IN, *, path: Path | None = None) -> str:
    """PATH for a tool: without relative folders and those of untrusted projects, since a tool may search it too."""
    projects = _untrusted(tools, path)
    return os.pathsep.join(str(folder) for folder in _folders() if not _is_of(folder, projects, tools))


def of_workspace(relative: str, path: Path | None, tools: Toolbox) -> Path | None:
    """The nearest file of that name at or above a text's folder, if its workspace is trusted.

    `relative` is a path such as "node_modules/typescript". Neither the search nor what it finds leaves the trusted
    folders.
    """
    if path is None or not tools.trusts(path):
        return None
    folder = real_path(path.parent)
    for above in (folder, *folder.parents) if folder else ():
        if not is_inside_any(above, tools.trusted_roots):
            break
        found = above / relative
        if found.exists() and is_inside_any(found, tools.trusted_roots):
            return found
    return None


_MARKS = (".git", "pyproject.toml", "package.json", "Cargo.toml", "go.mod", "compile_commands.json")
_SHARED = frozenset(map(Path, ("/usr", "/usr/local", "/opt", "/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/snap")))
"""Folders of the whole system: working in one does not make it a project."""
_OWN = ("bin", ".local", ".local/bin")
"""Folders of a home directory for the user's own programs."""


def _untrusted(tools: Toolbox, path: Path | None) -> tuple[Path, ...]:
    """The projects whose programs are not started: the text's, the working folder's, the open workspaces."""
    around = (_project(path), _project(_working_folder() / "any file"), *tools.workspaces)
    # A home directory or its parent is not a project: most programs that a user installs are there.
    return tuple(each for each in dict.fromkeys(around) if each is not None and not _is_shared(each))


def _project(path: Path | None) -> Path | None:
    """The outermost folder above a text that looks like its project; its own folder if none does."""
    if path is None:
        return None
    own = real_path(path.parent)
    above = [each for each in (own, *own.parents) if not _is_shared(each)] if own else []
    return next((each for each in reversed(above) if any((each / mark).exists() for mark in _MARKS)), own)


def _is_shared(folder: Path) -> bool:
    real = real_path(folder)
    home = Path.home()
    return real is None or real in _SHARED or is_inside(home, real) or any(real == home / own for own in _OWN)


def _working_folder() -> Path:
    try:
        return Path.cwd()
    except OSError:  # it was removed
        return Path.home()


def _named(program: str) -> Iterator[Path]:
    """The programs of that name in the order of PATH."""
    for folder in _folders():
        if found := shutil.which(program, path=str(folder)):
            yield Path(found)


def _folders() -> Iterator[Path]:
    """The absolute folders of PATH; relative ones depend on the working folder."""
    return (folder for folder in map(Path, os.get_exec_path()) if folder.is_absolute())


def _is_of(place: Path, projects: Iterable[Path], tools: Toolbox) -> bool:
    """True if a program or a folder is in an untrusted project, by its name or by the target of its links."""
    if is_inside(place if place.is_dir() else place.parent, Path(sys.executable).parent):
        return False  # a user who can change files next to Stet's interpreter could change Stet
    looks = (place.parent, place)
    brought = any(is_inside(look, project) for look in looks for project in projects)
    return brought and not all(is_inside_any(look, tools.trusted_roots) for look in looks)


def _program(path: Path) -> ToolProgram | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return ToolProgram(path, f"{found.st_mtime_ns} {found.st_size}") if path.is_file() else None

"""Writes Stet's entries into an agent's file, and removes them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from stet_ls.engine.errors import UsageError
from stet_ls.engine.workspace.git import project_top
from stet_ls.server.cli.agents.agent import ConfigFile
from stet_ls.server.cli.agents.config_files import config_place


def write(file: ConfigFile, *, user: bool) -> Path:
    """Writes Stet's entries into an agent's file. Raises UsageError where they do not fit."""
    path, _, after = changed(file, lambda text: file.format.add(text, config_place.this_program()), user=user)
    config_place.replace(path, after, within=_within(file, user), executable=file.executable)
    return path


def clear(file: ConfigFile, *, user: bool) -> tuple[Path, bool]:
    """Removes Stet's entries, and says whether there were any."""
    path, before, after = changed(file, file.format.remove, user=user)
    if before != after:
        config_place.replace(path, after, within=_within(file, user), executable=file.executable)
    return path, before != after


def _within(file: ConfigFile, user: bool) -> Path | None:
    """The folder that a write may not leave: links in a project are not the user's."""
    return None if user or file.project.startswith(".git/") else project_top(Path.cwd())


def changed(file: ConfigFile, change: Callable[[str], str], *, user: bool) -> tuple[Path, str, str]:
    """The file's path, its text, and its text after a change. Raises UsageError where it cannot be changed."""
    path = config_place.config_path(file, user=user, top=project_top(Path.cwd()))
    text = config_place.read(path)
    try:
        return path, text, change(text)
    except ValueError as error:
        raise UsageError(f"{path} not changed: {error}") from None

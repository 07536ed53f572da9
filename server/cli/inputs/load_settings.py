"""The settings in force for the folder of a subcommand."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stet_ls.server.cli.terminal.status import print_warning

if TYPE_CHECKING:
    from stet_ls.engine.settings import LoadedSettings


def load_settings(
    *,
    near: Path | None = None,
    arguments: Mapping[str, Any] | None = None,
    trust_project: bool = False,
    reads_project: bool = True,
) -> LoadedSettings:
    """The settings for a target in the folder `near` (default: the working folder).

    With `trust_project` the user trusts the project's actions for this call, whatever is stored. Without
    `reads_project` the project's file does not count.

    An error raises SettingsError; a value that a project may not set is reported on standard error and ignored. Also
    starts the log of this process, at the level that the settings give.
    """
    # Late: some commands end before they need the settings library.
    from stet_ls.engine.settings import find_project, load
    from stet_ls.engine.storage.paths import user_paths
    from stet_ls.server.observability.log import start_log

    here = Path.cwd()
    project = find_project(near or here, below=here) if reads_project else None
    loaded = load(project=project, arguments=arguments, strict=True, trust_project=trust_project)
    for warning in loaded.warnings:
        print_warning(warning)
    log = loaded.settings.log
    start_log(user_paths().log_file, log.level, log.format)
    return loaded


def project_root(folder: Path) -> Path:
    """The folder that a job may read: the git repository around `folder`, else the working folder, else `folder`."""
    folder, here = folder.absolute(), Path.cwd()
    for candidate in (folder, *folder.parents):
        if (candidate / ".git").exists():
            return candidate
    return here if folder.is_relative_to(here) else folder

"""What every sub-command needs first: the settings in force, for the folder where it runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stet_ls.server.cli.terminal.status import print_warning

if TYPE_CHECKING:
    from stet_ls.engine.settings import Loaded


def load_settings(
    *, near: Path | None = None, arguments: Mapping[str, Any] | None = None, trust_project: bool = False
) -> Loaded:
    """The settings for a target in the folder `near` (default: the working folder).

    With `trust_project` its user trusts the project's actions this time, whatever they said before.

    Anything wrong raises SettingsError; a value that a project may not set is told on standard error and ignored. The
    log of this process begins here, at the level that they say.
    """
    # Late: some commands end before they need the settings' library.
    from stet_ls.engine.settings import find_project, load
    from stet_ls.engine.storage.paths import user_paths
    from stet_ls.server.observability.log import set_level, start_log

    here = Path.cwd()
    loaded = load(
        project=find_project(near or here, below=here), arguments=arguments, strict=True, trust_project=trust_project
    )
    for warning in loaded.warnings:
        print_warning(warning)
    log = loaded.settings.log
    start_log(user_paths().logs / "stet.log", log.level, log.format)
    set_level(log.level, prompts=log.prompts)
    return loaded


def project_root(folder: Path) -> Path:
    """The folder that a job may look at: the git repository around `folder`, else the working folder, else itself."""
    folder, here = folder.absolute(), Path.cwd()
    for candidate in (folder, *folder.parents):
        if (candidate / ".git").exists():
            return candidate
    return here if folder.is_relative_to(here) else folder

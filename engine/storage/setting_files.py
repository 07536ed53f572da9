"""The files that settings are read from, found without the settings library."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from stet_ls.engine.storage.paths import Paths
from stet_ls.validators.project_files import LARGEST_TABLE, read_regular

PROJECT_FILE = ".stet.toml"


def find_project(start: Path, *, below: Path) -> Path | None:
    """The nearest folder at or above `start` that has a project file.

    The search ends at the root of a git repository or at `below`, whichever is met first; outside both it looks at
    `start` alone, so that a file in a shared folder above (/tmp) is ignored.
    """
    start, below = start.absolute(), below.absolute()
    passed: list[Path] = []
    for folder in (start, *start.parents):
        passed.append(folder)
        if folder == below or (folder / ".git").exists():
            break
    else:
        passed = [start]
    return next((folder for folder in passed if (folder / PROJECT_FILE).is_file()), None)


def setting_files(paths: Paths, project: Path | None) -> tuple[Path, ...]:
    """What affects the settings in a project: the user's file, the chosen model, the trust in projects, the project."""
    own = (paths.config_file, paths.model_file, paths.trust)
    return own if project is None else (*own, project / PROJECT_FILE)


def settings_state(paths: Paths, near: Path, environment: Mapping[str, str]) -> str:
    """Changes with everything that decides the settings of a command for the folder `near`."""
    here = Path.cwd()
    rows = [str(here), environment.get("HOME", "")]
    rows += [f"{file} {_content(file)}" for file in setting_files(paths, find_project(near, below=here))]
    rows += sorted(f"{name}={value}" for name, value in environment.items() if name.startswith("STET_"))
    return sha256("\0".join(rows).encode("utf-8", "surrogateescape")).hexdigest()


def _content(file: Path) -> str:
    try:
        return sha256(read_regular(file, most=LARGEST_TABLE)).hexdigest()
    except OSError as error:
        return str(error.errno)

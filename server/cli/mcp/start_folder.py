"""What a caller may name: folders, files and revisions in the folder in which the server was started."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from stet_ls.engine.errors import PolicyError, UsageError
from stet_ls.engine.workspace.git import repository
from stet_ls.validators.containment import is_inside

MOST_PATHS = 200


def folder_in(start: Path, name: str) -> Path:
    """A folder at or below the start. PolicyError for any other, whatever links lead there."""
    folder = (start / name).resolve()
    if not is_inside(folder, start):
        raise PolicyError("`root` is outside of the folder in which the server was started")
    if not folder.is_dir():
        raise UsageError("`root` is not a folder")
    return folder


def paths_in(start: Path, folder: Path, names: Sequence[str]) -> tuple[Path, ...]:
    """The files and folders to judge. Where the repository is larger than the start folder, only what lies in it."""
    if len(names) > MOST_PATHS:
        raise UsageError(f"more than {MOST_PATHS} paths: name a folder")
    paths = tuple((folder / name).resolve() for name in names)
    if not all(is_inside(path, start) for path in paths):
        raise PolicyError("a path is outside of the folder in which the server was started")
    top = repository(folder)
    return paths or ((folder,) if top is not None and top != folder else ())


def revision(start: Path, folder: Path, name: str) -> str:
    """A revision of git, or a folder below the start to compare with."""
    if name.startswith("-") or "\0" in name:
        raise UsageError("`base` is not a revision of git")
    if (folder / name).is_dir() and not is_inside((folder / name).resolve(), start):
        raise PolicyError("`base` is a folder outside of the folder in which the server was started")
    return name

"""Stet's own folders inside a workspace: with a `STET_HOME` there, or a workspace that is the home folder."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from stet_ls.engine.storage.paths import user_paths


def hidden_stet_folders(root: Path, folder: Path) -> frozenset[str]:
    """The relative paths hidden from every run of the workspace at `root`; `folder` is the sandbox's own.

    Without this a sandbox would show the user's keys and solutions; a copy would contain itself.
    """
    paths = user_paths()
    own = (paths.config_file, paths.model_file, paths.data, paths.cache, paths.logs, paths.runtime, folder)
    return frozenset(name for each in own if (name := _below(root, each)))


def folder_outside(root: Path, folder: Path) -> Path:
    """`folder`, or a private temporary one if `folder` is in the workspace: an overlay cannot contain its own source.

    Raises ValueError where both do.
    """
    for place in places(folder):
        if _below(root, place) is None:
            return place
    raise ValueError(f"{root} contains all places for a run's files; set `TMPDIR` to a folder outside it")


def places(folder: Path) -> tuple[Path, Path]:
    """The possible folders for a run's files: the folder itself and its temporary replacement."""
    user = os.getuid() if hasattr(os, "getuid") else 0
    return folder, Path(tempfile.gettempdir(), f"stet-{user}-{folder.name}")


def _below(root: Path, path: Path) -> str | None:
    """The relative path of a file in a folder, after resolving links; None if it is elsewhere."""
    real, base = path.resolve(), root.resolve()
    return real.relative_to(base).as_posix() if real.is_relative_to(base) else None

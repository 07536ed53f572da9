"""The trusted projects with the hashes of their tables, in the user's data folder, where no project can write."""

from __future__ import annotations

from pathlib import Path

from stet_ls.engine.storage import private_table
from stet_ls.engine.storage.paths import user_paths


def is_trusted(project: Path, digest: str) -> bool:
    """True if the user trusted exactly these tables of that project."""
    return private_table.read(user_paths().trust).get(_key(project)) == digest


def trust(project: Path, digest: str) -> None:
    """Stores the user's trust in place of an older one. Raises StetError if it cannot be written."""
    path = user_paths().trust
    private_table.write(path, {**private_table.read(path), _key(project): digest})


def _key(project: Path) -> str:
    return str(project.resolve())

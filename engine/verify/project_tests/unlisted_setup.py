"""Files that decide how tests run and are in no tree, since git ignores them: no one else has them, or sees them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

from stet_ls.engine.verify.changes.change import Change
from stet_ls.validators.project_files import entries

_NAMES = re.compile(
    r"conftest\.py|\.?pytest\.(?:ini|toml)|tox\.ini|setup\.cfg|pyproject\.toml|package\.json"
    r"|(?:jest|vite|vitest|babel)\.config\.\w+|\.(?:mocha|babel)rc(?:\.\w+)?"
)


def unlisted_setup(change: Change, tests: Iterable[str]) -> list[str]:
    """The paths of such files in the folders of tests and above them. Reads folders: not for an event loop."""
    folders = {folder.as_posix() for test in tests for folder in PurePosixPath(test).parents}
    return sorted(path for folder in folders for path in _files(change, folder))


def _files(change: Change, folder: str) -> Iterable[str]:
    names = [each.name for each in entries(change.root / folder) if _NAMES.fullmatch(each.name)]
    paths = (name if folder == "." else f"{folder}/{name}" for name in names)
    yield from (path for path in paths if path not in change.head.files and path not in change.base.files)

"""Which projects' actions their user trusts: by the project's folder and the hash of its tables.

The file lies in the user's data folder, where no project can write: a project never trusts itself.
"""

from __future__ import annotations

import json
import logging
import os
import tempfile
from contextlib import suppress
from pathlib import Path

from stet_ls.engine.errors import StetError
from stet_ls.engine.paths import user_paths
from stet_ls.validators.project_files import read_regular

log = logging.getLogger(__name__)

_LARGEST = 1_000_000
"""Bytes of the file; one line a project."""


def is_trusted(project: Path, digest: str) -> bool:
    """True if the user said yes to exactly these tables of that project."""
    return _read().get(_key(project)) == digest


def trust(project: Path, digest: str) -> None:
    """Remembers the user's yes in the place of an older one. Raises StetError if it cannot be written."""
    path = user_paths().trust
    known = {**_read(), _key(project): digest}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=".trust", dir=path.parent)  # for its user alone
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(known, file, indent=1, sort_keys=True)
            Path(name).replace(path)
        except BaseException:
            with suppress(OSError):
                Path(name).unlink()
            raise
    except OSError as error:
        raise StetError(f"{path} cannot be written, so the trust is not remembered: {error.strerror}") from None


def _read() -> dict[str, str]:
    """What is trusted. A file that cannot be read trusts nothing."""
    path = user_paths().trust
    try:
        value = json.loads(read_regular(path, most=_LARGEST))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        log.warning("%s trusts nothing: %s", path, error)
        return {}
    return {key: each for key, each in value.items() if isinstance(each, str)} if isinstance(value, dict) else {}


def _key(project: Path) -> str:
    return str(project.resolve())

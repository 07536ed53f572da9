"""A small JSON table of the user's earlier answers, in a folder that no project can write."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stet_ls.engine.errors import StetError
from stet_ls.engine.storage.private_files import write_private
from stet_ls.validators.project_files import read_regular

log = logging.getLogger(__name__)

_LARGEST = 1_000_000
"""Bytes of a file; a line or two for each answer."""


def read(path: Path) -> dict[str, Any]:
    """The table; empty if it is missing or cannot be read, as if nothing had been answered."""
    try:
        value = json.loads(read_regular(path, most=_LARGEST))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        log.warning("ignored %s: %s", path, error)
        return {}
    return value if isinstance(value, dict) else {}


def write(path: Path, table: Mapping[str, Any]) -> None:
    """Replaces the table in one step, readable by the user alone. Raises StetError if it cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_private(path, json.dumps(table, indent=1, sort_keys=True))
    except OSError as error:
        raise StetError(f"{path} is not writable, so the answer is not remembered: {error.strerror}") from None

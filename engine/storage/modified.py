"""When files were written last: what is oldest goes first."""

from __future__ import annotations

from pathlib import Path


def modified_at(path: Path) -> float:
    """The time of the last change, in seconds since 1970; 0 for what is not there any more."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0

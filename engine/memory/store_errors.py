"""Errors of the store's libraries and of the system, as StoreErrors of one sentence."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from stet_ls.engine.errors import StoreError, StoreFault

# LanceDB raises RuntimeError, OSError and ValueError with texts of Rust; only the text distinguishes them.
_TEXTS = (
    (re.compile(r"os error 28|No space left"), errno.ENOSPC),
    (re.compile(r"os error 27|File too large"), errno.EFBIG),
    (re.compile(r"os error 30|Read-only file system"), errno.EROFS),
    (re.compile(r"os error 13|Permission denied"), errno.EACCES),
)


@contextmanager
def translate_errors(place: Path | str, *passing: type[Exception]) -> Iterator[None]:
    """Raises a StoreError about `place` for errors of the system and of LanceDB, except those in `passing`."""
    try:
        yield
    except (OSError, RuntimeError, ValueError) as error:
        if isinstance(error, passing):
            raise
        raise fault_of(error, place) from error


def fault_of(error: Exception, place: Path | str) -> StoreError:
    """The StoreError for an error."""
    number = error.errno if isinstance(error, OSError) else None
    for pattern, code in _TEXTS:
        if number is None and pattern.search(str(error)):
            number = code
    match number:
        case errno.ENOSPC | errno.EDQUOT:
            return StoreError(
                f"The disk of {place} is full, so nothing more is remembered: free some space, or move the memory "
                "with the setting memory.uri.",
                fault=StoreFault.DISK_FULL,
            )
        case errno.EFBIG:
            return StoreError(
                f"{place} may not grow any further (a limit on the size of files), so nothing more is remembered: "
                "raise the limit, or forget some solutions.",
                fault=StoreFault.DISK_FULL,
            )
        case errno.EROFS | errno.EACCES | errno.EPERM:
            return StoreError(
                f"{place} cannot be written, so nothing more is remembered: make it writable, or set memory.uri.",
                fault=StoreFault.READ_ONLY,
            )
    return StoreError(
        f"The memory's table in {place} cannot be read. Run `stet memory doctor` to rebuild it from the journal.",
        fault=StoreFault.CORRUPT,
    )

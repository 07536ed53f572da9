"""Disk space that a run has used since its start: a rlimit bounds one file's size, not the number of files."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Sequence

_SLOW = 10  # at most a tenth of the time goes to walking


class DiskUsage:
    """Measures how much folders have grown since the start. Links are not followed."""

    def __init__(self, folders: Sequence[str], most_bytes: int, most_files: int) -> None:
        self._folders = folders
        used, files = self._use()
        self._most = (used + most_bytes, files + most_files)
        self._next = 0.0

    def is_too_much(self, elsewhere: Callable[[], int] = int) -> bool:
        """True if a limit is passed, counting bytes used elsewhere too. False shortly after a measurement."""
        started = time.monotonic()
        if started < self._next or not self._folders:
            return False
        used, files = self._use()
        used += elsewhere()
        self._next = time.monotonic() + _SLOW * (time.monotonic() - started)
        return used > self._most[0] or files > self._most[1]

    def _use(self) -> tuple[int, int]:
        used = files = 0
        pending = list(self._folders)
        while pending:
            with contextlib.suppress(OSError), os.scandir(pending.pop()) as entries:
                for entry in entries:
                    files += 1
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
                    else:
                        used += entry.stat(follow_symlinks=False).st_blocks * 512
        return used, files

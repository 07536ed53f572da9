"""How much a run has put on the disk since it began: a rlimit bounds one file and not their number."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Sequence

_SLOW = 10  # a tenth of the time at most is spent on walking


class DiskUsage:
    """Counts what lies in folders, against what lay there at first. Links are not followed."""

    def __init__(self, folders: Sequence[str], most_bytes: int, most_files: int) -> None:
        self._folders = folders
        used, files = self._use()
        self._most = (used + most_bytes, files + most_files)
        self._next = 0.0

    def is_too_much(self, elsewhere: Callable[[], int] = int) -> bool:
        """True if a limit is passed, with the bytes that lie elsewhere. Often it does not look, and is False."""
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

"""The folder of runs: in the user's folder, or a temporary one if that is not writable."""

from __future__ import annotations

import fcntl
import logging
import os
import tempfile
import weakref
from pathlib import Path

from stet_ls.engine.errors import PolicyError
from stet_ls.engine.sandbox.files import scratch
from stet_ls.engine.sandbox.spec import BoxError
from stet_ls.engine.storage.private_files import private_folder
from stet_ls.engine.storage.writable import FULL, WAY_OUT, WriteObstacle, obstacle

_log = logging.getLogger(__name__)

_PREFIX = "stet-runs-"


class RunFolder:
    """A folder that is private to the user; `wanted` is the persistent one, used if it is writable."""

    def __init__(self, wanted: Path) -> None:
        self.wanted = wanted
        self.folder = wanted
        """The folder in use."""
        self.obstacle: WriteObstacle | None = None
        """Why `wanted` is not in use."""
        self._remove: weakref.finalize[..., RunFolder] | None = None

    def open(self) -> Path:
        """The folder in use; it exists and is writable. Raises BoxError if there is none. Blocks."""
        if self.folder == self.wanted and (found := _private_or_obstacle(self.wanted)) is not None:
            self._move(found)
        return self.folder

    def leave(self, place: Path, error: OSError) -> bool:
        """True if a folder other than `place`, where `error` occurred, is now in use. Raises as `open` does."""
        if self.folder == place == self.wanted:
            if error.errno in FULL:  # no new check: the files that filled the disk may be removed by now
                self._move(WriteObstacle.of(place, error))
            else:
                self.open()
        return self.folder != place

    def close(self) -> None:
        """Removes the temporary folder. The next `open` tries the user's own again."""
        if self._remove is not None:
            self._remove()
        self.folder, self.obstacle, self._remove = self.wanted, None, None

    def _move(self, found: WriteObstacle) -> None:
        try:
            scratch.sweep(Path(tempfile.gettempdir()), _PREFIX)
            # 0700, below a folder whose owner or sticky bit keeps others from replacing it.
            folder = Path(tempfile.mkdtemp(prefix=_PREFIX)).resolve()
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            fcntl.flock(lock, fcntl.LOCK_EX)
        except OSError as error:
            raise BoxError(
                f"{found}, and neither can a temporary folder ({error.strerror or error}). {WAY_OUT}."
            ) from error
        _log.warning("%s: code runs from %s until this process ends", found, folder)
        self.folder, self.obstacle = folder, found
        self._remove = weakref.finalize(self, _end, folder, lock)


def _private_or_obstacle(folder: Path) -> WriteObstacle | None:
    """Creates `folder` for this user only; returns what keeps it from being created, private or writable."""
    if (found := obstacle(folder)) is not None:
        return found
    try:
        private_folder(folder)
    except OSError as error:
        return WriteObstacle.of(folder, error)
    except PolicyError as error:
        return WriteObstacle(folder, str(error).rstrip("."))
    return None


def _end(folder: Path, lock: int) -> None:
    scratch.remove(folder)
    os.close(lock)

"""Writable folders on the disk for a run: created, listed without following links, and removed."""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from stet_ls.engine.sandbox.files.outputs import relative
from stet_ls.engine.storage.private_files import private_folder

_DEEP = 40
_PREFIX = "run-"
_MOST = 8 * 1024 * 1024
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@contextmanager
def scratch(base: Path, prefix: str = _PREFIX) -> Iterator[Path]:
    """A private folder below `base`, locked while in use so that a sweep skips it, and always removed afterwards."""
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=private_folder(base))).resolve()
    lock = os.open(folder, _FOLDER)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder
    finally:
        remove(folder)
        os.close(lock)


def sweep(base: Path, prefix: str = _PREFIX) -> int:
    """Removes folders left by this user's killed processes; returns how many."""
    return sum(_swept(folder) for folder in base.glob(f"{prefix}*"))


def _swept(folder: Path) -> bool:
    """Removes an unused folder of this user."""
    try:
        lock = os.open(folder, _FOLDER)
    except OSError:
        return False
    try:
        if os.fstat(lock).st_uid != os.getuid():
            return False
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        remove(folder)
    except OSError:
        return False
    finally:
        os.close(lock)
    return True


def remove(folder: Path) -> None:
    """Removes a folder that programs may have made read-only or nested deeper than the longest path."""
    if not _removed(folder, _DEEP):
        # These walk by descriptors and follow no link.
        for command in (("chmod", "-R", "u+rwx"), ("rm", "-rf")):
            subprocess.run(
                [f"/bin/{command[0]}", *command[1:], "--", folder], env={}, check=False, stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip


def _removed(folder: Path | str, deep: int) -> bool:
    """Removes a folder no deeper than `deep`; False if that fails."""
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if not entry.is_dir(follow_symlinks=False):
                    os.unlink(entry.path)  # noqa: PTH108 - many
                elif deep == 0 or not _removed(entry.path, deep - 1):
                    return False
        os.rmdir(folder)  # noqa: PTH106
    except OSError:
        return False
    return True


def put(folder: Path, files: Mapping[str, bytes]) -> None:
    """Writes files by their relative paths. Raises ValueError for a path outside of the folder or behind a link."""
    for name, content in files.items():
        path = folder
        for part in relative(name).split("/")[:-1]:
            path /= part
            if path.is_symlink():
                raise ValueError(f"{name!r} is behind a link")
            path.mkdir(exist_ok=True)
        path = folder / relative(name)
        path.unlink(missing_ok=True)  # never write through a link of the workspace
        path.write_bytes(content)


def artifacts(folder: Path, wanted: Sequence[str]) -> Mapping[str, bytes]:
    """The requested regular files, or those in requested folders; links and devices are skipped."""
    found: dict[str, bytes] = {}
    for name in wanted:
        parts = relative(name).split("/")
        with contextlib.suppress(OSError):
            opened = os.open(folder, _FOLDER)
            try:
                for part in parts[:-1]:
                    below = os.open(part, _FOLDER, dir_fd=opened)
                    os.close(opened)
                    opened = below
                _take("/".join(parts), parts[-1], opened, found)
            finally:
                os.close(opened)
    return found


def _take(name: str, last: str, folder: int, found: dict[str, bytes]) -> None:
    """Adds a file, or all files of a folder, within the size limit."""
    with contextlib.suppress(OSError, RecursionError):
        opened = os.open(last, _FILE, dir_fd=folder)
        try:
            status = os.fstat(opened)
            if stat.S_ISREG(status.st_mode) and status.st_size + sum(map(len, found.values())) <= _MOST:
                with os.fdopen(os.dup(opened), "rb") as file:
                    found[name] = file.read(status.st_size)
            elif stat.S_ISDIR(status.st_mode):
                for entry in sorted(os.listdir(opened)):  # noqa: PTH208 - of a descriptor
                    _take(f"{name}/{entry}", entry, opened, found)
        finally:
            os.close(opened)

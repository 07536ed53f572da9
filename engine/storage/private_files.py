"""Files that only their user may read, because they hold the keys of running children."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

from stet_ls.engine.errors import PolicyError

_IS_POSIX = os.name == "posix"


def private_folder(path: Path) -> Path:
    """Creates `path` with mode 0700, or checks that it is such a folder.

    Raises PolicyError if it belongs to another user, is open to others, or is where others could replace it.
    Windows protects a user's folders by inherited access lists; there it is only created.
    """
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not _IS_POSIX:
        return path
    info = path.lstat()
    if not stat.S_ISDIR(info.st_mode):
        raise PolicyError(f"{path} is not a folder, so no key is stored there; remove it.")
    if info.st_uid != os.getuid():
        raise PolicyError(f"{path} belongs to another user, so no key is stored there; remove it or set STET_HOME.")
    if stat.S_IMODE(info.st_mode) & 0o077:
        raise PolicyError(f"{path} is accessible to other users, so no key is stored there; run: chmod 700 {path}")
    _check_parents(path)
    return path


def _check_parents(path: Path) -> None:
    """An owner or writer of a parent folder can replace this folder."""
    user = os.getuid()
    for parent in path.resolve().parents:
        info = parent.stat()
        sticky = info.st_mode & stat.S_ISVTX
        if info.st_mode & stat.S_IWOTH and not sticky:
            raise PolicyError(f"{parent} is writable for everyone, so no key is stored below it; set STET_HOME.")
        # The superuser may work in a folder that a user mounted into a container.
        if user != 0 and info.st_uid not in (0, user):
            raise PolicyError(f"{parent} belongs to another user, so no key is stored below it; set STET_HOME.")


def write_private(path: Path, text: str) -> None:
    """Replaces `path` in one step by a file of mode 0600."""
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # mkstemp creates it as 0600
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def read_private(path: Path) -> str | None:
    """The text of a file that only this user could have written; None if there is none, or it is not such a file."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        return None
    with os.fdopen(descriptor, encoding="utf-8", errors="replace") as file:
        info = os.fstat(file.fileno())
        if _IS_POSIX and (info.st_uid != os.getuid() or stat.S_IMODE(info.st_mode) & 0o077):
            return None
        return file.read()

"""The layer over a workspace: unsaved buffers and a run's own files, and nothing where secrets are."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from stet_ls.engine.prompt.secret_files import is_secret
from stet_ls.engine.sandbox.collect import relative
from stet_ls.engine.sandbox.spec import Overlay
from stet_ls.engine.workers.private import private_folder

_HISTORIES = frozenset({".git", ".hg", ".svn"})
"""Folders, or files that name one: what was written once, with the keys of the servers that have it too."""
_NOT_WALKED = frozenset({"node_modules", "__pycache__", ".venv", "venv", "site-packages", "target", ".tox", ".nox"})
"""Folders of tools: large, and what lies in them is not the user's."""


@dataclass(frozen=True, slots=True)
class Layers:
    """Where layers are made: a folder of Stet's own that no box sees."""

    folder: Path

    @contextmanager
    def layer(self, overlay: Overlay, files: Mapping[str, bytes]) -> Iterator[Path]:
        """A folder to lay over the workspace; gone afterwards. Locked meanwhile, so that a sweep can tell it is in use.

        Each secret is hidden by an empty file: in an upper layer a file hides a folder below it too.
        """
        base = private_folder(self.folder)
        folder = Path(tempfile.mkdtemp(prefix="layer-", dir=base))
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            masked = tuple(secrets(overlay.root))
            for name in masked:
                _write(folder, name, b"")
            for name, content in {**overlay.buffers, **files}.items():
                if not any(name == mask or name.startswith(f"{mask}/") for mask in masked):
                    _write(folder, relative(name), content)
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            os.close(lock)

    def sweep(self) -> int:
        """Removes what a process left behind that was killed; returns how many layers there were."""
        swept = 0
        with contextlib.suppress(OSError):
            for folder in self.folder.glob("layer-*"):
                lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(folder, ignore_errors=True)
                    swept += 1
                except BlockingIOError:
                    pass
                finally:
                    os.close(lock)
        return swept


def secrets(root: Path) -> Iterator[str]:
    """The relative paths in a workspace that no run sees. Links are not followed."""
    pending = [""]
    while pending:
        below = pending.pop()
        try:
            entries = list(os.scandir(root / below))
        except OSError:
            continue
        for entry in entries:
            name = f"{below}/{entry.name}" if below else entry.name
            folder = entry.is_dir(follow_symlinks=False)
            if is_hidden(name, folder=folder):
                yield name
            elif folder and entry.name not in _NOT_WALKED:
                pending.append(name)


def is_hidden(name: str, *, folder: bool) -> bool:
    """True if no run sees this file or folder of a workspace; `name` is its relative path."""
    parts = name.split("/")
    return parts[-1] in _HISTORIES or is_secret(parts, folder=folder)


def _write(folder: Path, name: str, content: bytes) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)

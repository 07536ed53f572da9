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
from fnmatch import fnmatch
from pathlib import Path

from stet_ls.engine.sandbox.collect import relative
from stet_ls.engine.sandbox.spec import Overlay
from stet_ls.engine.workers.private import private_folder

_MASKED_FOLDERS = frozenset({".git", ".hg", ".svn", ".ssh", ".aws", ".gnupg", ".kube", ".docker", ".azure"})
_MASKED_FILES = (
    ".env", ".env.*", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "id_rsa*", "id_dsa*", "id_ecdsa*",
    "id_ed25519*", ".netrc", ".npmrc", ".pypirc", ".pgpass", ".htpasswd", "credentials", "credentials.json",
    "*.tfstate", "*.tfvars", "secrets.*", ".git-credentials",
)  # fmt: skip
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
            if entry.is_dir(follow_symlinks=False):
                if entry.name in _MASKED_FOLDERS:
                    yield name
                elif entry.name not in _NOT_WALKED:
                    pending.append(name)
            elif entry.name in _MASKED_FOLDERS or any(fnmatch(entry.name, pattern) for pattern in _MASKED_FILES):
                yield name


def _write(folder: Path, name: str, content: bytes) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)

"""The layer over a workspace: unsaved buffers and a run's own files, with secrets masked."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from stet_ls.engine.privacy.secret_files import is_secret
from stet_ls.engine.sandbox.files.outputs import relative
from stet_ls.engine.sandbox.files.scratch import scratch, sweep
from stet_ls.engine.sandbox.files.stet_folders import folder_outside, hidden_stet_folders, places
from stet_ls.engine.sandbox.spec import Overlay

_HISTORIES = frozenset({".git", ".hg", ".svn"})
"""Folders, or files that name one: old versions of files, and credentials of remote servers."""
_CACHE = "__pycache__"
"""Compiled code, which Python runs without a look at the text if a file there says so: runs compile the text."""
_NOT_WALKED = frozenset({"node_modules", ".venv", "venv", "site-packages", "target", ".tox", ".nox"})
"""Large folders of tools that hold no files of the user's."""
_MOST_ENTRIES = 500_000
"""Entries of a workspace's folders; walking them takes some seconds."""
_PREFIX = "layer-"


@dataclass(frozen=True, slots=True)
class OverlayFolders:
    """Creates layers in a folder of Stet's own that no sandbox sees."""

    folder: Path

    @contextmanager
    def layer(self, overlay: Overlay, files: Mapping[str, bytes], masked: Sequence[str]) -> Iterator[Path]:
        """A folder to lay over the workspace; removed afterwards.

        Each of the `masked` paths is hidden by an empty file: a file in an upper layer also hides a folder below it.
        """
        with scratch(folder_outside(overlay.root, self.folder), _PREFIX) as folder:
            for name in masked:
                _write(folder, name, b"")
            for name, content in {**overlay.buffers, **files}.items():
                if not any(name == mask or name.startswith(f"{mask}/") for mask in masked):
                    _write(folder, relative(name), content)
            yield folder

    def masked(self, root: Path) -> tuple[str, ...]:
        """The paths of a workspace hidden from every run. Walks the tree: not for the event loop."""
        return tuple(hidden_paths(root, hidden_stet_folders(root, self.folder)))

    def sweep(self) -> int:
        """Removes layers left by killed processes; returns how many."""
        return sum(sweep(place, _PREFIX) for place in places(self.folder))


def hidden_paths(root: Path, own: Collection[str] = ()) -> Iterator[str]:
    """The relative paths in a workspace hidden from every run; `own` are Stet's. Links are not followed.

    Raises ValueError for a workspace with too many entries to check: an unchecked file could be a secret.
    """
    left = _MOST_ENTRIES
    pending = [""]
    while pending:
        below = pending.pop()
        for entry in _scanned(root / below):
            if (left := left - 1) < 0:
                raise ValueError(f"{root} has more than {_MOST_ENTRIES:,} files, too many to search for secrets")
            name = f"{below}/{entry.name}" if below else entry.name
            folder = entry.is_dir(follow_symlinks=False)
            if name in own or is_hidden(name, folder=folder) or (folder and entry.name == _CACHE):
                yield name
            elif folder and entry.name not in _NOT_WALKED:
                pending.append(name)


def _scanned(folder: Path) -> Iterator[os.DirEntry[str]]:
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        yield from entries


def is_hidden(name: str, *, folder: bool) -> bool:
    """True if this file or folder of a workspace is hidden from every run; `name` is its relative path."""
    parts = name.split("/")
    return parts[-1] in _HISTORIES or is_secret(parts, folder=folder)


def _write(folder: Path, name: str, content: bytes) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)

"""The state of a project at one moment, kept so that it can be compared with later: its list of files, and the contents
that the repository's own objects lack.

Agents commit as they go, so no revision names the state that a session began with. Nothing is written into the project.
"""

from __future__ import annotations

import json
import os
import time
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from stet_ls.engine.errors import UsageError
from stet_ls.engine.storage.paths import user_paths
from stet_ls.engine.storage.private_files import private_folder, read_private, write_private
from stet_ls.engine.verify.changes.tree import LARGEST, LINK, SUBMODULE, Tree, TreeEntry
from stet_ls.engine.verify.changes.trees import FolderTree, GitTree, working_tree
from stet_ls.engine.workspace.git import repository
from stet_ls.validators.project_files import TOOL_FOLDERS, entries

_DAYS = 30
_MOST_WITHOUT_GIT = 5_000
"""Files and folders of a project outside of git; all of them are read at each end of a turn."""
_MOST_STORED = 200_000_000
"""Bytes of contents that are stored for one state; what does not fit cannot be compared, and is reported so."""


@dataclass(frozen=True)
class RecordedTree(GitTree):
    """A recorded state. Its contents come from Stet's own files or from the repository's objects."""

    rows: Mapping[str, TreeEntry] = field(default_factory=dict, repr=False)

    @cached_property
    def files(self) -> Mapping[str, TreeEntry]:
        """All files, links and submodules of that moment."""
        return self.rows

    def read(self, paths: Iterable[str]) -> Mapping[str, bytes]:
        """The contents that are still there."""
        known = [path for path in paths if path in self.rows]
        own = {path: data for path in known if (data := _stored(self.rows[path].id)) is not None}
        rest = [path for path in known if path not in own]
        return own | (dict(super().read(rest)) if rest and repository(self.root) else {})


def tree_on_disk(root: Path) -> FolderTree:
    """The files as they are on the disk. UsageError if git cannot list them, or for a large folder without git."""
    if repository(root):
        return working_tree(root, GitTree(root, "index"))
    if _is_large(root):
        raise UsageError(f"{root} is not a git repository and has more than {_MOST_WITHOUT_GIT:,} files")
    return FolderTree(root)


def _is_large(root: Path) -> bool:
    """Whether a folder without git is more than a project: an agent may be started in a home folder."""
    pending, left = [root], _MOST_WITHOUT_GIT
    while pending and left > 0:
        for entry in entries(pending.pop()):
            left -= 1
            if entry.is_dir(follow_symlinks=False) and entry.name not in TOOL_FOLDERS:
                pending.append(Path(entry))
    return left <= 0


def name_of(tree: Tree) -> str:
    """The name of a state: equal for equal files."""
    rows = sorted(f"{entry.mode} {entry.id} {path}" for path, entry in tree.files.items())
    return sha256("\0".join(rows).encode("utf-8", "surrogateescape")).hexdigest()


def record_tree(root: Path) -> str:
    """Records the files as they are, and returns the name of that state. UsageError as above."""
    tree = tree_on_disk(root)
    name = name_of(tree)
    file = _folder() / f"{name}.json"
    if file.exists():
        os.utime(file)
        return name
    known = {entry.id for entry in GitTree(root, "index").files.values()} if repository(root) else set()
    left = _MOST_STORED
    for path, entry in tree.files.items():
        if entry.mode not in (LINK, SUBMODULE) and entry.id not in known and left > 0:
            data = tree.read([path]).get(path, b"")
            left -= len(data)
            if len(data) <= LARGEST:
                _store(entry.id, data)
    rows = {path: [entry.mode, entry.id] for path, entry in tree.files.items()}
    write_private(file, json.dumps({"root": str(root), "files": rows}))
    _prune()
    return name


def tree_named(root: Path, name: str) -> RecordedTree | None:
    """The state of that name, if it is still known."""
    try:
        values = json.loads(read_private(_folder() / f"{name}.json") or "null")
    except ValueError:
        return None
    if not isinstance(values, dict) or values.get("root") != str(root):
        return None
    rows = {path: TreeEntry(mode, content) for path, (mode, content) in values["files"].items()}
    return RecordedTree(root, "the start of the session", rows=rows)


def _store(content: str, data: bytes) -> None:
    file = _blobs() / content
    if file.exists():
        os.utime(file)
    else:
        write_private(file, zlib.compress(data, 1).hex())


def _stored(content: str) -> bytes | None:
    text = read_private(_blobs() / content) if content.isalnum() else None
    try:
        return zlib.decompress(bytes.fromhex(text)) if text is not None else None
    except (ValueError, zlib.error):
        return None


def _prune() -> None:
    oldest = time.time() - _DAYS * 86_400
    for folder in (_folder(), _blobs()):
        for entry in os.scandir(folder):
            if entry.is_file(follow_symlinks=False) and entry.stat().st_mtime < oldest:
                Path(entry).unlink(missing_ok=True)


def _folder() -> Path:
    return private_folder(user_paths().hooks / "trees")


def _blobs() -> Path:
    return private_folder(user_paths().hooks / "blobs")

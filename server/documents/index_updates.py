"""Tells the engine's index which folders are open and which of their files changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types

from stet_ls.server.documents.open_documents import path_of

if TYPE_CHECKING:
    from stet_ls.engine.workspace.symbol_index import SymbolIndex

AFTER_SECONDS = 2.0
"""From the opening of a workspace until it is read: an editor that starts has a lot to do."""


class IndexUpdates:
    """The workspace's side of the index. `index` is that of the engine in force, None before there is one."""

    def __init__(self, index: Callable[[], SymbolIndex | None], roots: Callable[[], tuple[Path, ...]]) -> None:
        self._index = index
        self._roots = roots
        self.told = False
        """The client tells of files that change on the disk."""

    def look(self) -> None:
        """Has the open folders read that were not yet; without a client that tells of changes, read again in time."""
        if (index := self._index()) is not None:
            index.watch(self._roots(), told=self.told, after=AFTER_SECONDS)

    def saved(self, uri: str) -> None:
        """A document was written."""
        self._changed([uri])

    def watched(self, params: types.DidChangeWatchedFilesParams) -> None:
        """The client saw files that were written, made or removed."""
        self._changed(change.uri for change in params.changes)

    def _changed(self, uris: Iterable[str]) -> None:
        if (index := self._index()) is not None:
            index.changed(path for path in map(path_of, uris) if path is not None)


def watchers() -> list[types.FileSystemWatcher]:
    """What the client is asked to watch: source files whose symbols are known, and the lists that hide some."""
    from stet_ls.validators.languages import LANGUAGES, NODE_KINDS

    endings = sorted({ending[1:] for row in LANGUAGES if row.id in NODE_KINDS for ending in row.extensions})
    globs = (f"**/*.{{{','.join(endings)}}}", "**/{.gitignore,.stetignore}")
    return [types.FileSystemWatcher(glob) for glob in globs]

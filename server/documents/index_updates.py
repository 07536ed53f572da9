"""Reports to the engine's index which folders are open and which of their files changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types

from stet_ls.server.documents.open_documents import path_of

if TYPE_CHECKING:
    from stet_ls.engine.workspace.symbol_index import SymbolIndex

AFTER_SECONDS = 2.0
"""Delay from the opening of a workspace until it is read: the editor is busy while it starts."""


class IndexUpdates:
    """Connects the workspace to the index. `index` returns that of the engine in force, None before there is one."""

    def __init__(self, index: Callable[[], SymbolIndex | None], roots: Callable[[], tuple[Path, ...]]) -> None:
        self._index = index
        self._roots = roots
        self.is_notified = False
        """Whether the client reports files that change on the disk."""

    def look(self) -> None:
        """Reads the open folders that are new; all of them regularly if the client does not report changes."""
        if (index := self._index()) is not None:
            index.watch(self._roots(), client_reports=self.is_notified, after=AFTER_SECONDS)

    def changed(self, uris: Iterable[str]) -> None:
        """Files were written, created or removed, as the client reports."""
        if (index := self._index()) is not None:
            index.changed(path for path in map(path_of, uris) if path is not None)


def watchers() -> list[types.FileSystemWatcher]:
    """The watchers to register: source files whose symbols are known, and the ignore lists."""
    from stet_ls.validators.languages import LANGUAGES, NODE_KINDS

    endings = sorted({ending[1:] for row in LANGUAGES if row.id in NODE_KINDS for ending in row.extensions})
    globs = (f"**/*.{{{','.join(endings)}}}", "**/{.gitignore,.stetignore}")
    return [types.FileSystemWatcher(glob) for glob in globs]

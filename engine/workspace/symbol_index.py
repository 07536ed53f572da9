"""The interface of the symbol index: lookups of names, and notices of changed files."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

from stet_ls.engine.api.request import Workspace
from stet_ls.engine.errors import StetError
from stet_ls.engine.privacy.ignored_files import LIST_FILE, IgnoredFiles
from stet_ls.engine.storage.paths import Paths
from stet_ls.engine.workers.worker import ChildSpec, Worker
from stet_ls.engine.workspace import file_symbols
from stet_ls.engine.workspace.index_scan import scan, update
from stet_ls.engine.workspace.index_store import IndexStatus, IndexStore, Stamp, SymbolEntry, SymbolHit, database
from stet_ls.engine.workspace.source_files import LARGEST, WalkLimits, admitted_file
from stet_ls.validators.containment import is_inside_any
from stet_ls.validators.languages import family, language_of
from stet_ls.validators.source import Source

_log = logging.getLogger(__name__)

_MOST_AT_ONCE = 40
_LISTS = frozenset({".gitignore", LIST_FILE})
AGAIN_SECONDS = 30.0
"""Seconds between two checks of a whole root if no client reports changes."""
NOT_READY = "index not ready"
_MOST_ROOTS = 8


@dataclass(frozen=True, slots=True)
class SymbolCandidate:
    """A place that defines a name. `text` is an unsaved buffer's; for a file on the disk `stamp` is set instead."""

    path: Path
    language: str
    entry: SymbolEntry
    stamp: Stamp | None = None
    text: Source | None = None


@dataclass(frozen=True, slots=True)
class Definition:
    """The current state of a definition: `entry.start` and `entry.end` are offsets in the text `source` of `path`."""

    path: Path
    language: str
    source: Source
    entry: SymbolEntry


@dataclass(frozen=True, slots=True)
class SymbolMatches:
    """The matches of some names. `gaps` says what the index of watched roots lacks; empty if nothing."""

    candidates: tuple[SymbolCandidate, ...]
    gaps: tuple[str, ...] = ()


@lru_cache(maxsize=32)
def _entries(text: str, language: str) -> tuple[SymbolEntry, ...]:
    return file_symbols.entries(Source(text), language)


class SymbolIndex:
    """The symbols of all known roots. `ignore` are the user's patterns of hidden files.

    `watch`, `changed`, `read` and `close` belong to one event loop, and only the last two wait; `find` and `open` run
    in threads.
    """

    def __init__(self, paths: Paths, ignore: tuple[str, ...] = ()) -> None:
        self._folder = paths.symbols
        self._paths = paths
        self._ignore = ignore
        self._workers: dict[Path, Worker] = {}
        self._asked: dict[Path, float] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._writing = threading.Lock()

    def watch(self, roots: Iterable[Path], *, client_reports: bool = False, after: float = 0.0) -> None:
        """Starts a child that reads the roots, in `after` seconds; later calls do again, unless a client reports."""
        now = time.monotonic()
        for root in list(dict.fromkeys(roots))[:_MOST_ROOTS]:
            last = self._asked.get(root)
            if last is None or (not client_reports and now - last > AGAIN_SECONDS):
                self._asked[root] = now
                self._start(partial(self._read, root, after), f"read {root}")

    async def read(self, roots: Iterable[Path], seconds: float) -> None:
        """Reads the roots in this process, for at most that many seconds: for a command that runs one job."""
        for root in list(dict.fromkeys(roots))[:_MOST_ROOTS]:
            self._asked[root] = time.monotonic()
            self._start(partial(asyncio.to_thread, self._scan, root, WalkLimits(seconds=seconds)), f"read {root}")
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=2 * seconds)

    def changed(self, paths: Iterable[Path]) -> None:
        """Reads written, created or removed files again in the background; very many of them in a child process."""
        paths = tuple(paths)
        roots = {root for root in self._asked for path in paths if path.is_relative_to(root)}
        if len(paths) > _MOST_AT_ONCE or any(path.name in _LISTS for path in paths):
            for root in roots:
                self._asked.pop(root)
            self.watch(roots)
        elif roots:
            self._start(partial(asyncio.to_thread, self.update, paths), "read changed files")

    def update(self, paths: Iterable[Path]) -> None:
        """Reads files again, now. Files that cannot be stored are left for the next reading of the root."""
        with self._writing:
            for path in paths:
                for root in self._asked:
                    store = self._store(root)
                    if not path.is_relative_to(root) or path == root or not store.path.exists():
                        continue
                    try:
                        update(root, store, path, admitted_file(root, path, self._ignore))
                    except (OSError, sqlite3.Error) as error:
                        _log.info("%s not indexed yet: %s", path.name, error)

    def find(
        self, names: Sequence[str], language: str, workspace: Workspace, *, but: Path | None = None
    ) -> SymbolMatches:
        """The places that define names for a caller in `language`, `but` one; a buffer hides its file. Reads files."""
        languages = family(language)
        found: list[SymbolCandidate] = []
        unsaved = {but}
        for buffer in workspace.buffers:
            if buffer.path in unsaved or language_of(buffer.path) not in languages:
                continue
            unsaved.add(buffer.path)
            if len(buffer.text) <= LARGEST and any(buffer.path.is_relative_to(root) for root in workspace.roots):
                source, its = Source(buffer.text), language_of(buffer.path)
                entries = (entry for entry in _entries(buffer.text, its) if entry.name in names)
                found += [SymbolCandidate(buffer.path, its, entry, text=source) for entry in entries]
        gaps: list[str] = []
        for root in workspace.roots:
            hits, gap = self._hits(root, names, languages)
            gaps += [gap] if gap else []
            places = ((root / hit.path, hit) for hit in hits)
            found += [
                SymbolCandidate(path, hit.language, hit.entry, stamp=hit.stamp)
                for path, hit in places
                if path not in unsaved
            ]  # fmt: skip
        return SymbolMatches(tuple(found), tuple(dict.fromkeys(gaps)))

    def open(self, candidate: SymbolCandidate, workspace: Workspace) -> Definition | None:
        """The current definition; None if it is gone, hidden, or no longer in this workspace."""
        path, language, entry = candidate.path, candidate.language, candidate.entry
        if candidate.text is not None:
            hidden = IgnoredFiles(workspace, self._ignore).reason(path) is not None
            outside = not is_inside_any(path, workspace.roots)
            return None if hidden or outside else Definition(path, language, candidate.text, entry)
        if not any(admitted_file(root, path, self._ignore) for root in workspace.roots):
            return None
        content = file_symbols.read(path)
        if content is None:
            return None
        digest, source = content
        if candidate.stamp is None or candidate.stamp.hash != digest:
            same = (each for each in _entries(source.text, language) if each.qualified == entry.qualified)
            if (now := next(same, None)) is None:
                return None
            entry = now
        return Definition(path, language, source, entry)

    def status(self, root: Path) -> IndexStatus:
        """The progress of reading a root."""
        try:
            return self._store(root).status()
        except (OSError, ValueError, TypeError, sqlite3.Error):
            return IndexStatus()

    async def close(self) -> None:
        """Cancels all readers."""
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for worker in self._workers.values():
            await worker.close()

    def _hits(self, root: Path, names: Sequence[str], languages: Sequence[str]) -> tuple[list[SymbolHit], str]:
        """The entries in the database of a root, and what it lacks."""
        store = self._store(root)
        try:
            hits, status = store.find(names, languages) if store.path.exists() else ([], IndexStatus())
        except (OSError, ValueError, TypeError, sqlite3.Error) as error:
            _log.info("cannot query the index of %s: %s", root, error)
            return [], NOT_READY if root in self._asked else ""
        if not status.complete:
            return hits, NOT_READY if root in self._asked else ""
        return hits, f"index of only the first {status.files:,} files alone: {status.bounds}" if status.bounds else ""

    def _scan(self, root: Path, limits: WalkLimits) -> None:
        store = self._store(root)
        try:
            store.prepare()
            scan(root, store, self._ignore, limits)
        except sqlite3.Error as error:  # another process is writing
            _log.info("cannot read %s: %s", root, error)

    def _store(self, root: Path) -> IndexStore:
        return IndexStore(database(self._folder, root, self._ignore))

    async def _read(self, root: Path, after: float = 0.0) -> None:
        await asyncio.sleep(after)
        path = self._store(root).path
        worker = self._workers.get(root)
        if worker is not None:
            await worker.close()  # this child has read its root already; the next lease starts a new one
        else:
            arguments = (str(root), str(path), *self._ignore)
            kind = ChildSpec("index", "stet_ls.engine.workspace.index_child", arguments, path.stem)
            worker = self._workers[root] = Worker(kind, runtime=self._paths.runtime, logs=self._paths.logs)
        await worker.lease()

    def _start(self, work: Callable[[], Awaitable[None]], name: str) -> None:
        async def run() -> None:
            try:
                await work()
            except (OSError, StetError) as error:
                _log.warning("%s: %s", name, error)

        task = asyncio.get_running_loop().create_task(run(), name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

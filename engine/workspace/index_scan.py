"""Reading a whole root into its database: an unchanged file only costs a check of its stamp."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from stet_ls.engine.workspace import file_symbols
from stet_ls.engine.workspace.index_store import IndexStatus, IndexStore, Stamp, SymbolEntry
from stet_ls.engine.workspace.source_files import SourceFile, SourceWalk, WalkLimits

_BATCH = 50
"""Files per write: files already read are kept if the process ends early."""
_SECONDS = 1.0
"""Seconds per write: a request may be waiting for the first names."""

IndexRow = tuple[str, str, Stamp, Sequence[SymbolEntry] | None]


def scan(root: Path, store: IndexStore, ignore: tuple[str, ...] = (), limits: WalkLimits | None = None) -> IndexStatus:
    """Updates the database to the root's state, as far as time allows. Raises OSError and sqlite3.Error."""
    started = time.monotonic()
    limits = limits or WalkLimits()
    walk = SourceWalk(root, ignore, limits)
    known = store.stamps()
    store.set_status(IndexStatus(complete=store.status().complete))  # old names are used until the new ones are there
    seen: set[str] = set()
    rows: list[IndexRow] = []
    written = started
    for found in walk.files():
        seen.add(found.path)
        if (row := _row(root, found, known.get(found.path))) is not None:
            rows.append(row)
        if len(rows) >= _BATCH or (rows and time.monotonic() - written > _SECONDS):
            store.put(rows)
            rows, written = [], time.monotonic()
        if time.monotonic() - started > limits.seconds:
            walk.late = True
            break
    store.put(rows)
    if not walk.late:
        store.drop(path for path in known if path not in seen)
    seconds = round(time.monotonic() - started, 3)
    status = IndexStatus(not walk.late, time.time(), len(seen), seconds, walk.bounds)
    store.set_status(status)
    return status


def update(root: Path, store: IndexStore, path: Path, found: SourceFile | None) -> None:
    """Updates the database for one file or folder of the root; `found` is None for one that does not belong in it."""
    if found is None:
        store.drop([path.relative_to(root).as_posix()])
        return
    known = store.stamp(found.path)
    if (row := _row(root, found, known)) is not None:
        store.put([row])


def _row(root: Path, found: SourceFile, known: Stamp | None) -> IndexRow | None:
    """The database row of a file; None if the file has not changed."""
    if known is not None and (known.changed, known.size) == (found.changed, found.size):
        return None
    content = file_symbols.read(root / found.path)
    if content is None:
        return found.path, found.language, Stamp(found.changed, found.size, b""), ()
    digest, source = content
    stamp = Stamp(found.changed, found.size, digest)
    if known is not None and known.hash == digest:
        return found.path, found.language, stamp, None
    return found.path, found.language, stamp, file_symbols.entries(source, found.language)

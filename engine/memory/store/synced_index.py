"""The journal, the table and the vectors in memory, kept in sync. Several processes may have the same index open.

A write goes to the journal, then the holder of the lock updates the table. A crash in between loses nothing: the next
holder does the update. The journal's size shows what other processes wrote.
"""

from __future__ import annotations

import asyncio
import json
import logging
import shutil
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from stet_ls.engine.errors import PolicyError, StoreError, StoreFault
from stet_ls.engine.memory.pending_outcomes import PendingOutcomes
from stet_ls.engine.memory.solution import Solution
from stet_ls.engine.memory.store import journal
from stet_ls.engine.memory.store.embedders import Embedder
from stet_ls.engine.memory.store.journal import Event, Journal, Stamp, apply, replayed
from stet_ls.engine.memory.store.journal_lookup import JournalLookup
from stet_ls.engine.memory.store.lance_table import LanceTable, row_filter
from stet_ls.engine.memory.store.table_rows import TableRow, content_hash
from stet_ls.engine.memory.store.vector_matrix import IN_MEMORY, VectorMatrix, read_vectors
from stet_ls.engine.memory.store_errors import translate_errors
from stet_ls.engine.storage.file_lock import hold_async
from stet_ls.engine.storage.private_files import private_folder, write_private

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vector = npt.NDArray[np.float32]
    Pair = tuple[Vector, Vector]

_log = logging.getLogger(__name__)

NO_DIMENSION = 8
"""Numbers of the vectors, all zero, if there is no embedder."""
_CHUNK = 500
"""Rows written at once."""


class SyncedIndex:
    """The stored solutions and their index. Made by `open`; belongs to one event loop."""

    def __init__(self, root: Path, embedder: Embedder | None) -> None:
        self.root = root
        self.journal = Journal(root / "journal.jsonl")
        self.embedder = embedder
        self.name = embedder.name if embedder else "words"
        self.dimension = embedder.dimension if embedder else NO_DIMENSION
        self.folder = root / "tables" / self.name
        self.writable = True
        self.waiting = 0
        """Rows without vectors yet."""
        self.writes = 0
        self._table: LanceTable | None = None
        self._matrix: VectorMatrix | None = None
        self._lookup = JournalLookup(self.journal)
        self._stamp = (0, 0)
        self._task = asyncio.Lock()

    @classmethod
    async def open(cls, root: Path, embedder: Embedder | None) -> SyncedIndex:
        """The index in a folder, created and repaired if necessary, only read if not writable. Raises StoreError."""
        index = cls(root, embedder)
        try:
            with translate_errors(root):
                await asyncio.to_thread(private_folder, root)
                index.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            async with index.writing():
                pass
        except PolicyError as error:
            raise StoreError(f"Memory unavailable: {error}") from error
        except StoreError as error:
            if error.fault is not StoreFault.READ_ONLY:
                raise
            index.writable = False
            if not index.folder.is_dir():
                raise
            index._table = await LanceTable.open(index.folder, index.name, None)
            await index._fill()
        return index

    @property
    def table(self) -> LanceTable:
        """The table."""
        if self._table is None:
            raise StoreError("The memory's table is being rebuilt. Try again.")
        return self._table

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[None]:
        """Holds the lock between all processes, with the table updated from the journal."""
        if not self.writable:
            raise StoreError(
                f"{self.root} cannot be written, so nothing more is remembered: make it writable, or set memory.uri.",
                fault=StoreFault.READ_ONLY,
            )
        async with self._task:
            with translate_errors(self.root):
                lock = hold_async(self.root / "store.lock")
                await lock.__aenter__()
            try:
                await self._rebuild()
                yield
            finally:
                await lock.__aexit__(None, None, None)

    async def refresh(self) -> None:
        """Reads what other processes wrote. Costs one check of a file if they wrote nothing."""
        if self.writable and self.journal.stamp != self._stamp:
            async with self.writing():
                pass

    async def write(
        self, events: Iterable[Event], vectors: Mapping[str, Pair] | None = None, *, replaces: bool = False
    ) -> None:
        """Writes events; on return they are on the disk. Requires the lock.

        Removed data leaves no byte behind, nor does overwritten data with `replaces`. If the table cannot be updated (a
        full disk), the next write does it, and `purge` reports whether bytes are left.
        """
        events = list(events)
        removes = replaces or any(event["op"] == "forget" for event in events)
        if removes:
            with translate_errors(self.root):
                self._purge_mark.touch()
        await asyncio.to_thread(self.journal.append, events)
        self.writes += 1
        try:
            await self._catch_up(vectors or {})
            if removes:
                await self.purge()
        except StoreError as error:
            self._stamp = (0, 0)
            _log.warning("the table lags behind the journal: %s", error)

    async def set_vectors(self, rows: Sequence[TableRow]) -> None:
        """Writes rows whose vectors changed. Requires the lock."""
        await self.table.upsert(rows)
        for row in rows:
            self._put(row)

    async def recount(self) -> None:
        """Reads the vectors again after the waiting rows got theirs, here or in another process."""
        async with self._task:
            await self._fill()

    async def nearest(
        self, vector: Vector, limit: int, languages: Sequence[str] | None, scopes: Collection[str] | None
    ) -> dict[str, float]:
        """The cosines of the nearest rows, by id."""
        if self._matrix is not None:
            return self._matrix.nearest(vector, limit, languages, scopes)
        return await self.table.nearest(vector, row_filter(languages, scopes), limit)

    async def solutions(self, ids: Sequence[str]) -> dict[str, Solution | None]:
        """Solutions by id, None for a damaged row; asks the table only where journal and memory disagree."""
        known = await self._lookup.solutions(ids)
        if self._matrix is not None:
            known = {ident: each for ident, each in known.items() if self._matrix.holds(each)}
        found: dict[str, Solution | None] = dict(known)
        if rest := [ident for ident in ids if ident not in known]:
            for ident, row in (await self.table.get(rest)).items():
                found[ident] = None if row is None else row.solution
        return found

    async def purge(self) -> None:
        """Removes every byte of forgotten or replaced solutions: in the journal, in the table and its indexes, in
        damaged tables and those of other embedders, in files left by a crash. Does nothing if no removal is pending.

        Requires the lock. A mark in the folder, set before anything is forgotten, makes the next process finish an
        interrupted purge. Raises StoreError if it cannot be done now.
        """
        if not self._purge_mark.exists():
            return
        if self.journal.stamp != self._stamp:
            await self._catch_up({})
        await self._rewrite_journal()
        with translate_errors(self.root):
            await asyncio.to_thread(self._remove_others)
        await self.table.rewrite()
        await self.table.index()
        self._purge_mark.unlink(missing_ok=True)

    async def compact(self) -> None:
        """Rewrites the journal and the table without replaced rows. Requires the lock."""
        with translate_errors(self.root):
            self._purge_mark.touch()
        await self.purge()

    async def _rewrite_journal(self) -> None:
        """Drops the lines of replaced or forgotten solutions. The table, which is current, stays so."""
        tail = await asyncio.to_thread(self.journal.read)
        if tail.broken:
            await self._compare({})  # the table has the data of the damaged lines
            tail = await asyncio.to_thread(self.journal.read)
        await asyncio.to_thread(self.journal.rewrite, list(replayed(tail.events).values()))
        self._note_stamp()

    def _remove_others(self) -> None:
        """Removes the tables next to this one, and files left half written by a killed process."""
        for other in (self.root / "tables").iterdir():
            if other != self.folder:
                shutil.rmtree(other)
        PendingOutcomes(self.root).sweep()
        for left in (*self.root.glob(".journal.jsonl.*"), *self.folder.glob(".applied.json.*")):
            left.unlink(missing_ok=True)

    async def start_again(self) -> None:
        """Rebuilds the table from the journal. Requires the lock."""
        self._table = None
        await asyncio.to_thread(shutil.rmtree, self.folder, ignore_errors=True)
        await self._rebuild()

    @property
    def _purge_mark(self) -> Path:
        return self.root / "purge"

    async def _rebuild(self) -> None:
        """Opens the table if necessary, updates it from the journal, and replaces an unreadable one."""
        try:
            await self._up_to_date()
        except StoreError as error:
            if error.fault is not StoreFault.CORRUPT:
                raise
            _log.warning("rebuilding the memory's damaged table: %s", error.__cause__ or error)
            broken = self.root / "tables" / f".{self.name}.broken"
            await asyncio.to_thread(shutil.rmtree, broken, ignore_errors=True)
            with translate_errors(self.folder, FileNotFoundError):
                self.folder.rename(broken)
            self._table = None
            await self._up_to_date()

    async def _up_to_date(self) -> None:
        is_new = self._table is None
        if is_new:
            self._stamp, purges = await asyncio.to_thread(self._stored_stamp)
            if not purges:
                self._purge_mark.touch()
            self._table = await LanceTable.open(self.folder, self.name, self.dimension)
            await self._fill()
        if self.journal.stamp != self._stamp or not self.journal.path.exists():
            await self._catch_up({})
        await self.purge()
        if is_new:
            await self._demote()

    async def _demote(self) -> None:
        """Removes the outcome "proven" from rows of versions that counted tests which never reached the code.

        Which of them a test executed is not recorded. A solution with more wins than losses becomes a kept one; the
        others had no other grounds, and are forgotten.
        """
        rows = (await self.table.get(await self.table.called("proven"))).values()
        unproven = [row.solution for row in rows if row is not None and not row.solution.proven]
        kept = [each for each in unproven if each.wins > each.losses]
        events = [journal.put(replace(each, outcome="kept", wins=each.wins - 1, evidence=())) for each in kept]
        events += [journal.forget(each.id) for each in unproven if each not in kept]
        if events:
            _log.warning(
                "%d solutions were proven by tests that may not have executed them: %d remain as kept, "
                "%d are deleted", len(unproven), len(kept), len(unproven) - len(kept),
            )  # fmt: skip
            await self.write(events)

    async def _fill(self) -> None:
        """Reads the vectors into memory, if they are few enough."""
        self._matrix, self.waiting = await read_vectors(self.table, self.dimension)

    async def _catch_up(self, vectors: Mapping[str, Pair]) -> None:
        """Applies to the table what it lacks from the journal."""
        generation, size = self.journal.stamp
        if size and generation == self._stamp[0] and size >= self._stamp[1]:
            await self._follow(vectors)
        else:
            await self._compare(vectors)
        self._note_stamp()

    def _note_stamp(self) -> None:
        """Records that the table is current with the journal."""
        self._stamp = self.journal.stamp
        with translate_errors(self.folder):
            note = {"stamp": self._stamp, "of": "journal", "purges": True}
            write_private(self.folder / "applied.json", json.dumps(note))

    async def _follow(self, vectors: Mapping[str, Pair]) -> None:
        """Applies the journal's end."""
        tail = await asyncio.to_thread(self.journal.read, self._stamp[1])
        if tail.broken:
            _log.warning("skipped %d damaged lines of the journal", tail.broken)
        ids = {journal.subject(event) for event in tail.events if event["op"] != "begin"}
        rows = {ident: row for ident, row in (await self.table.get(sorted(ids))).items() if row is not None}
        known = {ident: row.solution for ident, row in rows.items()}
        before = dict(known)
        touched = {ident for event in tail.events if (ident := apply(event, known))}
        changed = [ident for ident in touched if ident in known and known[ident] != before.get(ident)]
        for ident in touched & rows.keys():
            self._put(rows[ident])  # another process wrote it
        await self._set([known[ident] for ident in changed], rows, vectors)
        await self._drop([ident for ident in touched if ident not in known])

    async def _compare(self, vectors: Mapping[str, Pair]) -> None:
        """Makes the table equal to the journal; restores rows that a damaged journal lost from the table."""
        tail = await asyncio.to_thread(self.journal.read)
        known = replayed(tail.events)
        rows: dict[str, TableRow] = {}
        lost: list[str] = []
        async for page in self.table.pages(["id"]):
            for ident, row in (await self.table.get([record["id"] for record in page])).items():
                if row is not None:
                    rows[ident] = row
                if row is None or ident not in known:
                    lost.append(ident)
        if tail.broken or not tail.events:
            forgotten = {event["id"] for event in tail.events if event["op"] == "forget"}
            adopted = [rows[ident].solution for ident in lost if ident in rows and ident not in forgotten]
            if adopted:
                _log.warning("restored %d solutions from the table to the journal", len(adopted))
            known |= {solution.id: solution for solution in adopted}
            if tail.broken or adopted or not self.journal.path.exists():
                await asyncio.to_thread(self.journal.rewrite, list(known.values()))
        for ident in rows.keys() & known.keys():
            self._put(rows[ident])
        changed = [each for ident, each in known.items() if ident not in rows or rows[ident].solution != each]
        await self._drop([ident for ident in lost if ident not in known])
        await self._set(changed, rows, vectors)

    async def _set(
        self, solutions: Sequence[Solution], rows: Mapping[str, TableRow], vectors: Mapping[str, Pair]
    ) -> None:
        import numpy as np

        blank = np.zeros(self.dimension, np.float32)
        for start in range(0, len(solutions), _CHUNK):
            chunk = []
            for solution in solutions[start : start + _CHUNK]:
                old = rows.get(solution.id)
                pair = vectors.get(solution.id) or ((old.v_ins, old.v_all) if old else (blank, blank))
                chunk.append(TableRow(solution, *pair))
                self.waiting += old is None and not chunk[-1].embedded
            await self.table.upsert(chunk)
            for row in chunk:
                self._put(row)

    async def _drop(self, ids: Sequence[str]) -> None:
        if ids:
            await self.table.remove(ids)
            for ident in ids:
                if self._matrix is not None:
                    self._matrix.drop(ident)

    def _put(self, row: TableRow) -> None:
        if self._matrix is not None:
            solution = row.solution
            place = (solution.id, solution.language, solution.scope)
            self._matrix.put(*place, content_hash(row), row.v_ins, row.v_all)
            if len(self._matrix) > IN_MEMORY:
                self._matrix = None

    def _stored_stamp(self) -> tuple[Stamp, bool]:
        """The journal position up to which the table is current; False if an older version left removed bytes."""
        try:
            fields = json.loads((self.folder / "applied.json").read_text())
            first, second = fields["stamp"]
            return (int(first), int(second)), bool(fields.get("purges"))
        except (OSError, ValueError, KeyError, TypeError):
            return (0, 0), True

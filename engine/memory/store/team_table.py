"""A table shared by a team, in a folder or an object store: searched in addition, within a separate deadline.

Its vectors are read into memory with the lowest priority; a search compares them there and fetches the few matching
rows. With write access, kept solutions are added. If the table cannot be reached, that is reported and retried later.
Pending removals are recorded first, so that after a crash the next process performs them.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stet_ls.engine.errors import StoreError, StoreFault
from stet_ls.engine.memory.solution import GLOBAL, Solution
from stet_ls.engine.memory.store.lance_table import LanceTable, row_filter
from stet_ls.engine.memory.store.table_rows import TableRow
from stet_ls.engine.memory.store.vector_matrix import VectorMatrix, read_vectors
from stet_ls.engine.memory.store_errors import translate_errors
from stet_ls.engine.storage.private_files import write_private

if TYPE_CHECKING:
    from stet_ls.engine.memory.store.embedders import Embedder
    from stet_ls.engine.memory.store.synced_index import SyncedIndex
    from stet_ls.engine.memory.store.vector_matrix import Vector

_log = logging.getLogger(__name__)

SECONDS = 0.08
"""Seconds that a job's search waits for the team's rows: half of its total wait for the memory."""
AGAIN = 30.0
"""Seconds after which the table is checked again, for others' writes or because it could not be reached."""
_CACHED = 2_000
"""Rows that are kept in memory, of 2 KB each."""
_CONNECT_OPTIONS = {"client_max_retries": "1", "connect_timeout": "3s", "timeout": "20s"}
"""For object stores, whose library retries for minutes: no job waits for it, and the next check retries."""


@dataclass(frozen=True, slots=True)
class _Pending:
    """Rows to remove from a team's table: those of these undone `edits` alone, and `hidden` ones with their bytes."""

    edits: tuple[str, ...] = ()
    hidden: bool = False


class TeamTable:
    """The table of one place. Belongs to the store's event loop; its searches never raise StoreError.

    `home` is the folder of the user's own memory: it records what was sent to this table and what has to be removed.
    """

    def __init__(self, place: str, home: Path, embedder: Embedder, storage: Mapping[str, str], *, writes: bool) -> None:
        self.place = place
        self.writes = writes
        self._shared_file = home / "shared.json"
        self._pending_file = home / "unshared.json"
        self.fault = "not connected yet"
        """Why it cannot be searched, or ""."""
        self._embedder = embedder
        self._storage = {**_CONNECT_OPTIONS, **storage} if "://" in place else None
        self._table: LanceTable | None = None
        self._matrix: VectorMatrix | None = None
        self._version = -1
        self._rows: dict[str, TableRow] = {}
        self._looked = float("-inf")
        self._looking: asyncio.Task[None] | None = None
        self._fetching: set[asyncio.Task[list[tuple[TableRow, float]]]] = set()
        self.changing = asyncio.Lock()
        """Held, it blocks additions, which could include a solution about to be forgotten."""

    def look(self) -> None:
        """Reads others' writes in the background, if the last check was some time ago."""
        if time.monotonic() - self._looked > AGAIN and (self._looking is None or self._looking.done()):
            self._looking = asyncio.create_task(self._look(), name="look at the team's table")

    async def looked(self) -> None:
        """Waits for the first check to end."""
        self.look()
        if self._looking is not None:
            await asyncio.shield(self._looking)

    async def search(
        self, vector: Vector, languages: Sequence[str] | None, limit: int, min_score: float, seconds: float
    ) -> list[tuple[TableRow, float]]:
        """The most similar rows with their cosines; none if that takes longer than `seconds`, or fails."""
        self.look()
        if self._table is None:
            return []
        task = asyncio.create_task(self._search(self._table, vector, languages, limit, min_score))
        self._fetching.add(task)
        task.add_done_callback(self._fetching.discard)
        # Late results are there for the next search.
        done, _ = await asyncio.wait({task}, timeout=seconds)
        return task.result() if done else []

    async def get(self, ids: Collection[str]) -> dict[str, TableRow]:
        """Existing, undamaged rows by id. Raises StoreError if the table cannot be reached."""
        wanted = [ident for ident in ids if ident not in self._rows]
        if wanted and self._table is not None:
            try:
                found = await self._table.get(wanted)
            except StoreError as error:
                self._lose(error)
                raise StoreError(self.fault) from error
            while len(self._rows) > _CACHED:
                self._rows.pop(next(iter(self._rows)))
            self._rows |= {ident: row for ident, row in found.items() if row is not None}
        return {ident: self._rows[ident] for ident in ids if ident in self._rows}

    async def remove(self, ids: Sequence[str], solutions: Collection[Solution]) -> int:
        """Removes rows and those of own `solutions` to the last byte, within `changing`. StoreError: none was."""
        if not self.writes and solutions:
            return 0
        await self.looked()
        if not self.writes:
            if await self.get(ids):
                message = "It belongs to the team's table, which is read-only here (setting `memory.team_access`): "
                raise StoreError(message + self.place, fault=StoreFault.REFUSED)
            return 0
        if self._table is None:
            raise self._unreachable()
        try:
            there = await self._table.get([*ids, *(_shared(each).id for each in solutions)])
            if there:
                self._add_pending(hidden=True)
                await self._table.remove(list(there))
            await self._settle(self._table)
        except StoreError as error:
            self._lose(error)
            raise self._unreachable() from error
        for ident in there:
            self._rows.pop(ident, None)
            if self._matrix is not None:
                self._matrix.drop(ident)
        return len(there)

    def record_undone(self, edit: str) -> None:
        """Records an undone edit: the next `follow` removes the solutions that depended on it alone."""
        if self.writes:
            self._add_pending(edit)

    async def follow(self, index: SyncedIndex) -> int:
        """Removes due rows, adds what was kept since, if the table can be reached; returns the number of rows."""
        if not self.writes:
            return 0
        await self.looked()
        if self._table is None:
            return 0
        async with self.changing:
            await self._settle(self._table)
            return await self._add(self._table, index)

    async def _settle(self, table: LanceTable) -> None:
        """Does the pending work and then deletes its record: after a crash in between, the next process does it."""
        pending = self._pending()
        for edit in pending.edits:
            rows = [row for row in (await table.get(await table.grounded(edit))).values() if row is not None]
            if rows:
                self._add_pending(hidden=True)
            left = {row.solution.id: row.solution.without(edit) for row in rows}
            await table.upsert([replace(row, solution=stays) for row in rows if (stays := left[row.solution.id])])
            await table.remove([ident for ident, stays in left.items() if stays is None])
        if self._pending().hidden:
            await table.rewrite(shared=True)
            self._version, self._looked = -1, float("-inf")
        if pending != _Pending():
            self._write_pending(_Pending(tuple(each for each in self._pending().edits if each not in pending.edits)))

    async def _add(self, table: LanceTable, index: SyncedIndex) -> int:
        stamp = index.journal.stamp
        generation, offset = self._shared_up_to()
        if (generation, offset) == stamp:
            return 0
        tail = await asyncio.to_thread(index.journal.read, offset if generation == stamp[0] else 0)
        ids = {Solution.from_json(event["solution"]).id for event in tail.events if event["op"] == "put"}
        ids |= {str(event["id"]) for event in tail.events if event["op"] == "count"}
        own = [row for row in (await index.table.get(sorted(ids))).values() if row and row.embedded]
        rows = [replace(row, solution=_shared(row.solution)) for row in own if row.solution.is_supported]
        theirs = await table.get([row.solution.id for row in rows])
        better = []
        for row in rows:
            copy = theirs.get(row.solution.id)
            if copy is None:
                better.append(row)
            elif row.solution.rank > copy.solution.rank:
                better.append(replace(row, solution=row.solution.grounded(copy.solution)))
        await table.upsert(better)
        write_private(self._shared_file, json.dumps({"place": self.place, "stamp": [stamp[0], tail.end]}))
        if better:
            self._looked = float("-inf")
        return len(better)

    def state(self) -> dict[str, Any]:
        """The state for reports."""
        count = len(self._matrix) if self._matrix is not None else None
        access = "write" if self.writes else "read"
        return {"uri": self.place, "access": access, "solutions": count, "fault": self.fault}

    async def _look(self) -> None:
        try:
            if self._table is None:
                dimension = self._embedder.dimension if self.writes else None
                place = f"{self.place.rstrip('/')}/{self._embedder.name}"
                folder = place if self._storage is not None else Path(place)
                self._table = await LanceTable.open(folder, self._embedder.name, dimension, self._storage)
            version = await self._table.version()
            if version != self._version:
                self._rows.clear()
                self._matrix, _ = await read_vectors(self._table, self._embedder.dimension)
                self._version = version
            self.fault = ""
        except FileNotFoundError:
            self.fault = f"{self.place} holds no solutions that {self._embedder.name} compares"
        except StoreError as error:
            self._lose(error)
        finally:
            self._looked = time.monotonic()

    async def _search(
        self, table: LanceTable, vector: Vector, languages: Sequence[str] | None, limit: int, min_score: float
    ) -> list[tuple[TableRow, float]]:
        try:
            if self._matrix is not None:
                scores = self._matrix.nearest(vector, limit, languages, None)
            else:
                scores = await table.nearest(vector, row_filter(languages, None), limit)
            scores = {ident: score for ident, score in scores.items() if score >= min_score}
            found = (await self.get(scores)).items()
            return [(row, scores[ident]) for ident, row in found if row.solution.is_supported]
        except StoreError as error:
            if error.fault is not StoreFault.UNAVAILABLE:
                self._lose(error)
            return []

    def _unreachable(self) -> StoreError:
        return StoreError(f"Nothing deleted: the team's memory is not reachable: {self.fault}")

    def _lose(self, error: StoreError) -> None:
        """Drops the connection; the next check makes a new one."""
        self._table, self._matrix, self._version = None, None, -1
        reason = str(error.__cause__ or error).splitlines()[0]
        newer = error.fault is StoreFault.NEWER
        self.fault = str(error) if newer else f"{self.place} is not reachable ({reason[:160]})"
        _log.warning("the team's memory: %s", self.fault)

    def _add_pending(self, *edits: str, hidden: bool = False) -> None:
        known = self._pending()
        self._write_pending(_Pending((*known.edits, *edits), known.hidden or hidden))

    def _pending(self) -> _Pending:
        fields = self._all_pending().get(self.place, {})
        return _Pending(tuple(map(str, fields.get("edits", ()))), bool(fields.get("hidden")))

    def _write_pending(self, pending: _Pending) -> None:
        others = {place: fields for place, fields in self._all_pending().items() if place != self.place}
        own = {} if pending == _Pending() else {self.place: {"edits": pending.edits, "hidden": pending.hidden}}
        with translate_errors(self._pending_file):
            write_private(self._pending_file, json.dumps({**others, **own}))

    def _all_pending(self) -> dict[str, dict[str, Any]]:
        """By place: the removals from another team's table are kept until it is searched again."""
        try:
            found = json.loads(self._pending_file.read_text())
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def _shared_up_to(self) -> tuple[int, int]:
        """The position in the journal up to which the team's table is current; (0, 0) for another team."""
        try:
            fields = json.loads(self._shared_file.read_text())
            first, second = fields["stamp"]
            return (int(first), int(second)) if fields["place"] == self.place else (0, 0)
        except (OSError, ValueError, KeyError, TypeError):
            return 0, 0


def _shared(solution: Solution) -> Solution:
    """The solution as shared with the team: without a workspace, whose folder differs on each machine."""
    return replace(solution, scope=GLOBAL)

"""Maintenance of the store: size limits, repairs and complete removal."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from stet_ls.engine.errors import StoreError, StoreFault
from stet_ls.engine.memory.pending_outcomes import PendingOutcomes
from stet_ls.engine.memory.solution import Solution, texts_of
from stet_ls.engine.memory.store import journal
from stet_ls.engine.memory.store.solution_store import SolutionStore
from stet_ls.engine.memory.store.table_rows import TableRow, from_record

_EVERY = 20
"""Writes between two rounds of maintenance. A thousand single-row writes without it took 3,000 files."""
_KEPT = timedelta(hours=1)
"""Age of the versions of the table that are dropped: another process may still read younger ones."""
_FREE = 3
"""A table is rewritten only if this many times its size is free on the disk."""
_ROOM = 0.95
"""Share of the limit that is left after an eviction, so that not every write evicts."""
_BATCH = 4
"""Texts that are embedded while a query waits, at most."""

_CHUNK = 50
"""Rows that get their vectors in one write: each write leaves a version of the table for an hour."""

OnProgress = Callable[[int, int], None]


async def forget(store: SolutionStore, ids: Sequence[str]) -> int:
    """Removes solutions from the journal and from every byte of the table; returns how many there were.

    With write access to the team's table they are removed there too. Raises StoreError if that cannot be reached, or if
    all named solutions are in a read-only team's table; nothing is removed then.
    """
    team = store.team
    if team is None:
        return await _keep(store, lambda solution: solution.id not in ids)
    async with team.changing:
        known = await asyncio.to_thread(store.index.journal.solutions)
        theirs = await team.remove(ids, [known[ident] for ident in ids if ident in known])
        return await _keep(store, lambda solution: solution.id not in ids) or theirs


async def clear(store: SolutionStore, scope: str | None) -> int:
    """Forgets all solutions of a scope, or (None) all, and incomplete ones. The team's table is not changed."""
    gone = await _keep(store, lambda solution: scope is not None and solution.scope != scope)
    if not gone:
        async with store.index.writing():
            await store.index.compact()
    return gone


async def evict(store: SolutionStore) -> int:
    """Drops losers, then unused solutions, oldest first, until there is room again; returns how many were dropped."""
    index = store.index
    if await index.table.count() <= store.most:
        return 0
    async with index.writing():
        columns = ["id", "uses", "wins", "losses", "created_at", "last_used_at"]
        rows = [row async for page in index.table.pages(columns) for row in page]
        rows.sort(key=lambda row: (row["losses"] <= row["wins"], row["uses"], row["last_used_at"] or row["created_at"]))
        gone = rows[: max(0, len(rows) - int(store.most * _ROOM))]
        await index.write(journal.forget(row["id"]) for row in gone)
    return len(gone)


async def maintain(store: SolutionStore, *, now: bool = False) -> bool:
    """Joins the table's small files and updates its indexes, every few writes; True if it was done."""
    index = store.index
    if not index.writable or (index.writes < _EVERY and not now):
        return False
    await evict(store)
    size = await asyncio.to_thread(size_of, store)
    if await asyncio.to_thread(lambda: shutil.disk_usage(index.root).free) < _FREE * size:
        return False
    async with index.writing():
        await index.table.optimize(_KEPT)
        await index.table.index()
        index.writes = 0
    return True


async def compact(store: SolutionStore) -> dict[str, int]:
    """Rewrites the journal without replaced or forgotten solutions, and the table without older versions."""
    before = await asyncio.to_thread(size_of, store)
    await evict(store)
    async with store.index.writing():
        await store.index.compact()
    return {"before": before, "after": await asyncio.to_thread(size_of, store)}


async def doctor(store: SolutionStore) -> dict[str, Any]:
    """Compares every row with its hash and with the journal, and repairs differences; reports what it found."""
    index = store.index
    async with index.writing():
        tail = await asyncio.to_thread(index.journal.read)
        known = await asyncio.to_thread(index.journal.solutions)
        good: dict[str, Solution] = {}
        damaged = 0
        try:
            async for page in index.table.pages():
                rows = [from_record(record) for record in page]
                damaged += rows.count(None)
                good |= {row.solution.id: row.solution for row in rows if row is not None}
            unreadable = False
        except StoreError as error:
            if error.fault is not StoreFault.CORRUPT:
                raise
            unreadable = True
        missing = [ident for ident in known if ident not in good]
        only = [solution for ident, solution in good.items() if ident not in known]
        differing = [ident for ident, solution in good.items() if known.get(ident, solution) != solution]
        if tail.broken:
            await asyncio.to_thread(index.journal.rewrite, [*known.values(), *only])
        sound = not (damaged or missing or only or differing or unreadable or tail.broken)
        if not sound:
            # The rows are in the journal; their vectors are recomputed in the background.
            await index.start_again()
    return {
        "solutions": await index.table.count(),
        "sound": sound,
        "damaged_rows": damaged,
        "missing_rows": len(missing),
        "differing_rows": len(differing),
        "rows_only_in_table": len(only),
        "damaged_journal_lines": tail.broken,
        "table_unreadable": unreadable,
        "waiting_for_vectors": index.waiting,
    }


async def embed_waiting(store: SolutionStore, on_progress: OnProgress = lambda done, total: None) -> int:
    """Computes missing vectors; returns how many rows got theirs. Queries go first, batch by batch."""
    index = store.index
    if index.embedder is None or not index.waiting or not index.writable:
        return 0
    ids = [
        row["id"] async for page in index.table.pages(["id", "embed_model"]) for row in page if not row["embed_model"]
    ]
    for start in range(0, len(ids), _CHUNK):
        rows = [row for row in (await index.table.get(ids[start : start + _CHUNK])).values() if row is not None]
        texts = [text for row in rows for text in texts_of(row.solution)]
        batches = [await store.encode(texts[at : at + _BATCH]) for at in range(0, len(texts), _BATCH)]
        vectors = [vector for batch in batches for vector in batch]
        async with index.writing():
            still = await index.table.get([row.solution.id for row in rows])
            await index.set_vectors(
                [
                    TableRow(current.solution, vectors[2 * number], vectors[2 * number + 1])
                    for number, row in enumerate(rows)
                    if (current := still.get(row.solution.id)) is not None
                ]
            )
        on_progress(min(start + _CHUNK, len(ids)), len(ids))
    await index.recount()
    await maintain(store, now=len(ids) > _EVERY)
    return len(ids)


async def stats(store: SolutionStore) -> dict[str, Any]:
    """Statistics of the stored solutions."""
    index = store.index
    await index.refresh()
    return {
        "solutions": await index.table.count(),
        "dimension": index.dimension if index.embedder else None,
        "embedder": index.embedder.name if index.embedder else None,
        "bytes": await asyncio.to_thread(size_of, store),
        "uri": str(index.root),
        "waiting_for_vectors": index.waiting,
        "writable": index.writable,
        "team": store.team.state() if store.team is not None else None,
    }


def size_of(store: SolutionStore) -> int:
    """Bytes on the disk."""
    total = 0
    for path in store.index.root.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except OSError:
            continue  # another process removed it
    return total


async def _keep(store: SolutionStore, wanted: Callable[[Solution], bool]) -> int:
    index = store.index
    async with index.writing():
        known = await asyncio.to_thread(index.journal.solutions)
        gone = [ident for ident, solution in known.items() if not wanted(solution)]
        await asyncio.to_thread(PendingOutcomes(index.root).keep, lambda written: wanted(written.solution))
        if gone:
            await index.write(journal.forget(ident) for ident in gone)
            await index.purge()  # raises if bytes are left
    return len(gone)

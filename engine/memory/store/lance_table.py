"""The table: LanceDB in a folder. It holds the journal's solutions with their vectors, and can be rebuilt."""

from __future__ import annotations

import os
import warnings
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stet_ls.engine.errors import StoreError, StoreFault
from stet_ls.engine.memory.store.table_rows import SCHEMA_VERSION, TABLE, TableRow, from_record, schema
from stet_ls.engine.memory.store_errors import translate_errors

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from lancedb.table import AsyncTable

    Vector = npt.NDArray[np.float32]

os.environ.setdefault("RUST_LOG", "error")  # Lance warns on standard error about every other search
os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")  # its own pool does not release memory

_IDS = 200
"""Ids in one filter."""
_PAGE = 1000
"""Rows read at a time: a thousand are 4 MB."""
_INDEXED_FROM = 20_000
"""Rows above which an index is worth building; below, the vectors are compared one by one."""
_IDS_INDEXED_FROM = 1_000
"""The same limit for ids: writing a known row looks it up."""
_PROBES = 24


class LanceTable:
    """The rows of one embedder. Its methods may be called by one task at a time."""

    def __init__(self, place: str, table: AsyncTable, embedder: str) -> None:
        self.place = place
        self._table = table
        self._embedder = embedder

    @classmethod
    async def open(
        cls, folder: Path | str, embedder: str, dimension: int | None, storage: Mapping[str, str] | None = None
    ) -> LanceTable:
        """The table of a folder or address, created with a `dimension`. Raises StoreError and FileNotFoundError."""
        import lancedb

        place = _address(folder)
        with translate_errors(place, FileNotFoundError):
            database = await lancedb.connect_async(
                place, read_consistency_interval=timedelta(0), storage_options=dict(storage) if storage else None
            )
            names = (await database.list_tables()).tables
            if newer := [name for name in names if name.startswith("solutions_v") and name > TABLE]:
                message = f"The memory in {place} was written by a newer version of Stet ({newer[0]}). Update Stet."
                raise StoreError(message, fault=StoreFault.NEWER)
            if TABLE in names:
                table = await database.open_table(TABLE)
                if count := await table.count_rows(f"schema_version > {SCHEMA_VERSION}"):
                    message = f"The memory in {place} holds {count} rows of a newer version of Stet. Update Stet."
                    raise StoreError(message, fault=StoreFault.NEWER)
            elif dimension is None:
                raise FileNotFoundError(place)
            else:
                table = await database.create_table(TABLE, schema=schema(dimension))
                # Without a primary key, two writers of one new id create two rows.
                await table.set_unenforced_primary_key("id")
            return cls(place, table, embedder)

    async def count(self) -> int:
        """The number of rows."""
        with self._translated():
            return await self._table.count_rows()

    async def upsert(self, rows: Sequence[TableRow]) -> None:
        """Writes rows; those of the same ids are replaced."""
        if not rows:
            return
        import pyarrow as pa

        with self._translated():
            data = pa.Table.from_pylist([row.to_record(self._embedder) for row in rows], await self._table.schema())
            merge = self._table.merge_insert("id").when_matched_update_all().when_not_matched_insert_all()
            await merge.execute(data)

    async def remove(self, ids: Sequence[str]) -> None:
        """Removes rows; their bytes stay in the table's files until `rewrite`."""
        with self._translated():
            for start in range(0, len(ids), _IDS):
                await self._table.delete(_among(ids[start : start + _IDS]))

    async def get(self, ids: Sequence[str]) -> dict[str, TableRow | None]:
        """Rows by id; None for a damaged one; missing ids are left out."""
        found: dict[str, TableRow | None] = {}
        with self._translated():
            for start in range(0, len(ids), _IDS):
                query = self._table.query().where(_among(ids[start : start + _IDS]))
                for record in (await query.to_arrow()).to_pylist():
                    found[record["id"]] = from_record(record)
        return found

    async def beginning(self, prefix: str) -> list[str]:
        """The first two ids that begin with these hex digits."""
        return await self._ids(f"starts_with(id, {quoted(prefix)})", most=2)

    async def grounded(self, edit: str) -> list[str]:
        """The ids of the rows that have an edit among their grounds."""
        named = quoted(f' {edit}"')
        return await self._ids(f"contains(meta, {named})")

    async def called(self, outcome: str) -> list[str]:
        """The ids of the rows that have an outcome."""
        return await self._ids(f"outcome = {quoted(outcome)}")

    async def _ids(self, condition: str, most: int | None = None) -> list[str]:
        with self._translated():
            query = self._table.query().where(condition).select(["id"])
            query = query if most is None else query.limit(most)
            return [record["id"] for record in (await query.to_arrow()).to_pylist()]

    async def pages(self, columns: Sequence[str] | None = None) -> AsyncIterator[list[dict[str, Any]]]:
        """All records, a page at a time."""
        with self._translated():
            query = self._table.query()
            if columns is not None:
                query = query.select(list(columns))
            async for batch in await query.to_batches(max_batch_length=_PAGE):
                yield batch.to_pylist()

    async def vectors(self) -> AsyncIterator[tuple[list[dict[str, Any]], Vector, Vector]]:
        """The data of searches, a page at a time: plain columns, and the two matrices."""
        columns = ["id", "language", "scope", "content_hash", "embed_model"]
        with self._translated():
            query = self._table.query().select([*columns, "v_ins", "v_all"])
            async for batch in await query.to_batches(max_batch_length=_PAGE):
                plain = batch.select(columns).to_pylist()
                yield plain, *(_matrix(batch.column(name)) for name in ("v_ins", "v_all"))

    async def nearest(self, vector: Vector, where: str | None, limit: int) -> dict[str, float]:
        """The cosines of the nearest rows, by id: the larger one of their two vectors'."""
        scores: dict[str, float] = {}
        with self._translated():
            for column in ("v_ins", "v_all"):
                query = self._table.vector_search(vector).column(column).distance_type("dot").nprobes(_PROBES)
                if where is not None:
                    query = query.where(where)
                records = (await query.select(["id", "_distance"]).limit(limit).to_arrow()).to_pylist()
                for record in records:
                    cosine = 1.0 - record["_distance"]
                    scores[record["id"]] = max(scores.get(record["id"], -1.0), cosine)
        return scores

    async def by_words(self, text: str, where: str | None, limit: int) -> dict[str, str]:
        """The instructions of the rows that share words with a text, by id."""
        from lancedb.index import FTS

        with self._translated():
            if not any(index.columns == ["instruction"] for index in await self._table.list_indices()):
                await self._table.create_index("instruction", config=FTS())
            query = self._table.query().nearest_to_text(text, columns="instruction")
            if where is not None:
                query = query.where(where)
            records = (await query.select(["id", "instruction", "_score"]).limit(limit).to_arrow()).to_pylist()
        return {record["id"]: record["instruction"] for record in records}

    async def version(self) -> int:
        """A number that changes with each write by any process."""
        with self._translated():
            return await self._table.version()

    async def optimize(self, keep: timedelta, *, shared: bool = False) -> None:
        """Joins small files and drops versions older than `keep`; removed rows may stay in the files, see `rewrite`.

        Unreferenced files are dropped too if `keep` is zero and the table is not `shared`: no lock stops others from
        writing to a shared one, and a file is unreferenced until it is complete. Lance drops such files after a week.
        """
        with self._translated(), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # zero is intended: the lock is held, and others reopen
            await self._table.optimize(cleanup_older_than=keep, delete_unverified=not keep and not shared)

    async def rewrite(self, *, shared: bool = False) -> None:
        """Writes every row to new files and drops all others, so that no byte of a removed or replaced row remains.

        Lance hides removed rows behind a deletion vector and leaves them in their file until they are a tenth of it. An
        update of all rows empties every file, in one commit that preserves concurrent writes. Indexes contain words and
        vectors of removed rows; they are dropped first.
        """
        with self._translated():
            for index in await self._table.list_indices():
                await self._table.drop_index(index.name)
            await self._table.update(updates_sql={"uses": "uses"})
        await self.optimize(timedelta(0), shared=shared)

    async def index(self) -> bool:
        """Builds or updates the indexes of a large table; False if it is small."""
        from lancedb.index import BTree, IvfFlat

        with self._translated():
            count = await self._table.count_rows()
            if count < _IDS_INDEXED_FROM:
                return False
            have = {index.columns[0] for index in await self._table.list_indices()}
            if "id" not in have:
                await self._table.create_index("id", config=BTree())
            if count <= _INDEXED_FROM:
                return True
            for column in ("v_ins", "v_all"):
                if column not in have:
                    await self._table.create_index(column, config=IvfFlat(distance_type="dot"))
            return True

    def _translated(self) -> AbstractContextManager[None]:
        return translate_errors(self.place)


def _address(folder: Path | str) -> str:
    """An address, or an absolute path: LanceDB takes a relative one that begins with "db" for its cloud."""
    return str(folder.absolute()) if isinstance(folder, Path) else folder


def _among(ids: Sequence[str]) -> str:
    """A filter for ids, which are hex digits only."""
    return f"id IN ({', '.join(quoted(each) for each in ids)})"


def row_filter(languages: Sequence[str] | None, scopes: Collection[str] | None) -> str | None:
    """The filter for rows of these languages and scopes; None for all rows."""
    parts = [
        f"{column} IN ({', '.join(quoted(name) for name in names)})"
        for column, names in (("language", languages), ("scope", scopes))
        if names is not None
    ]
    return " AND ".join(parts) or None


def quoted(text: str) -> str:
    """A literal of SQL."""
    return "'" + text.replace("'", "''") + "'"


def _matrix(column: Any) -> Vector:
    import numpy as np

    flat = column.flatten().to_numpy(zero_copy_only=False)
    return np.asarray(flat, np.float32).reshape(len(column), -1)

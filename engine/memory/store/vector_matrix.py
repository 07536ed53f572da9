"""The vectors of a small table in memory: ten thousand rows are compared in 3 ms and take 31 MB."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from stet_ls.engine.memory.store.table_rows import TableRow, content_hash

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from stet_ls.engine.memory.solution import Solution
    from stet_ls.engine.memory.store.lance_table import LanceTable

    Vector = npt.NDArray[np.float32]

IN_MEMORY = 20_000
"""Rows whose vectors are held in memory; larger tables are searched by their index."""
_LEAST_ROOM = 256
_MORE = 4
"""The capacity grows by one part in this many: unused capacity takes memory too."""


class VectorMatrix:
    """Two vectors per row, with the language, the scope and the hash of the row. `rows` is the initial capacity."""

    def __init__(self, dimension: int, rows: int = 0) -> None:
        import numpy as np

        self._dimension = dimension
        self._places: dict[str, int] = {}
        self._ids: list[str] = []
        self._hashes: list[str] = []
        self._codes: dict[str, int] = {}
        self._vectors = np.zeros((2, rows, dimension), np.float32)
        self._language = np.zeros(rows, np.int32)
        self._scope = np.zeros(rows, np.int32)

    def __len__(self) -> int:
        return len(self._places)

    def put(self, ident: str, language: str, scope: str, digest: str, v_ins: Vector, v_all: Vector) -> None:
        """Adds a row, or replaces the one of this id. `digest` is its content hash."""
        place = self._places.get(ident)
        if place is None:
            place = len(self._ids)
            self._make_room(place + 1)
            self._ids.append(ident)
            self._hashes.append(digest)
            self._places[ident] = place
        self._hashes[place] = digest
        self._vectors[0, place] = v_ins
        self._vectors[1, place] = v_all
        self._language[place] = self._code(language)
        self._scope[place] = self._code(scope)

    def drop(self, ident: str) -> None:
        """Removes a row: the last one takes its place."""
        place = self._places.pop(ident, None)
        if place is None:
            return
        last = len(self._ids) - 1
        if place != last:
            self._ids[place], self._hashes[place] = self._ids[last], self._hashes[last]
            self._places[self._ids[place]] = place
            self._vectors[:, place] = self._vectors[:, last]
            self._language[place], self._scope[place] = self._language[last], self._scope[last]
        self._ids.pop()
        self._hashes.pop()

    def holds(self, solution: Solution) -> bool:
        """True if the row was written with this solution, vectors included."""
        place = self._places.get(solution.id)
        if place is None:
            return False
        return content_hash(TableRow(solution, self._vectors[0, place], self._vectors[1, place])) == self._hashes[place]

    def nearest(
        self, vector: Vector, limit: int, languages: Sequence[str] | None, scopes: Collection[str] | None
    ) -> dict[str, float]:
        """The larger cosine of both vectors of the nearest rows, by id."""
        import numpy as np

        count = len(self._ids)
        if not count:
            return {}
        scores = np.maximum(self._vectors[0, :count] @ vector, self._vectors[1, :count] @ vector)
        for column, names in ((self._language, languages), (self._scope, scopes)):
            if names is not None:
                wanted = [self._codes.get(name, -1) for name in names]
                scores[~np.isin(column[:count], wanted)] = -1.0
        best = np.argpartition(-scores, min(limit, count) - 1)[:limit]
        return {self._ids[place]: float(scores[place]) for place in best if scores[place] > -1.0}

    def _code(self, name: str) -> int:
        return self._codes.setdefault(name, len(self._codes))

    def _make_room(self, count: int) -> None:
        import numpy as np

        room = self._vectors.shape[1]
        if count <= room:
            return
        more = max(_LEAST_ROOM, room // _MORE)
        self._vectors = np.concatenate([self._vectors, np.zeros((2, more, self._dimension), np.float32)], axis=1)
        self._language = np.concatenate([self._language, np.zeros(more, np.int32)])
        self._scope = np.concatenate([self._scope, np.zeros(more, np.int32)])


async def read_vectors(table: LanceTable, dimension: int) -> tuple[VectorMatrix | None, int]:
    """The vectors of a table, None if they are too many, and how many of the rows read have none yet."""
    count = await table.count()
    matrix = VectorMatrix(dimension, count) if count <= IN_MEMORY else None
    waiting = 0
    async for plain, ins, both in table.vectors():
        for record, v_ins, v_all in zip(plain, ins, both, strict=True):
            waiting += not record["embed_model"]
            if matrix is not None:
                matrix.put(record["id"], record["language"], record["scope"], record["content_hash"], v_ins, v_all)
        if matrix is None:
            break
    return matrix, waiting

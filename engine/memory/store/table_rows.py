"""A solution as a row of the table: the columns, and the hash that detects a damaged row."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from stet_ls.engine.memory.solution import Solution

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

    Vector = npt.NDArray[np.float32]

SCHEMA_VERSION = 1
TABLE = f"solutions_v{SCHEMA_VERSION}"

_TEXTS: Mapping[str, str] = {
    "kind": "kind", "instruction": "instruction", "code": "code", "language": "language", "tests": "tests",
    "outcome": "outcome", "scope": "scope", "created_at": "created_at", "last_used_at": "last_used_at",
    "source_path": "path", "source_hash": "path_hash", "model": "model",
}  # fmt: skip
"""Text columns, and the fields that they hold."""
_COUNTS = ("uses", "wins", "losses")
_META = ("evidence", "signature", "unit", "grounds")
"""Fields that share one column of JSON. New fields are added here, so that older versions can still write rows."""


@dataclass(frozen=True, slots=True)
class TableRow:
    """A solution with its two vectors; both are zeros until they are computed."""

    solution: Solution
    v_ins: Vector
    v_all: Vector

    @property
    def embedded(self) -> bool:
        """False while it can be found by its words only."""
        return bool(self.v_ins.any())

    def to_record(self, embedder: str) -> dict[str, Any]:
        """The row as a record of the table. `embedder` is the name of the embedder of its vectors."""
        solution = self.solution
        return {
            "id": solution.id,
            "schema_version": SCHEMA_VERSION,
            **{column: getattr(solution, name) for column, name in _TEXTS.items()},
            **{name: getattr(solution, name) for name in _COUNTS},
            "meta": json.dumps({name: getattr(solution, name) for name in _META}),
            "embed_model": embedder if self.embedded else "",
            "content_hash": content_hash(self),
            "v_ins": self.v_ins,
            "v_all": self.v_all,
        }


def from_record(record: Mapping[str, Any]) -> TableRow | None:
    """The row of a record; None if it is damaged."""
    import numpy as np

    try:
        texts = {name: record[column] for column, name in _TEXTS.items()}
        counts = {name: record[name] for name in _COUNTS}
        solution = Solution.from_json({**texts, **counts, **json.loads(record["meta"])})
        row = TableRow(solution, np.asarray(record["v_ins"], np.float32), np.asarray(record["v_all"], np.float32))
        return row if solution.id == record["id"] and content_hash(row) == record["content_hash"] else None
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def schema(dimension: int) -> pa.Schema:
    """The table's columns. The primary key must exist from the first row on, and may never be null."""
    import pyarrow as pa

    def column(name: str, kind: pa.DataType) -> pa.Field:
        return pa.field(name, kind, nullable=False)

    vector = pa.list_(pa.float32(), dimension)
    return pa.schema(
        [
            column("id", pa.string()),
            column("schema_version", pa.int16()),
            *(column(name, pa.string()) for name in _TEXTS),
            *(column(name, pa.int32()) for name in _COUNTS),
            *(column(name, pa.string()) for name in ("meta", "embed_model", "content_hash")),
            column("v_ins", vector),
            column("v_all", vector),
        ]
    )


def content_hash(row: TableRow) -> str:
    """A hash of text and vectors: Lance does not detect damaged bytes of a data file, most of which are vectors."""
    fields = row.solution.to_json()
    fields.pop("grounds", None)  # so that versions without grounds still accept the row
    digest = hashlib.sha256(json.dumps(fields, sort_keys=True).encode())
    digest.update(row.v_ins.tobytes() + row.v_all.tobytes())
    return digest.hexdigest()[:32]

"""The result of programs that ran for a task, and the files that they made."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from stet_ls.engine.api.json_schema import COUNT, NUMBER, TEXT, Schema, array, nullable, table


class FileKind(StrEnum):
    """The kind of a file that a task made."""

    CODE = "code"
    DATA = "data"
    IMAGE = "image"


@dataclass(frozen=True, slots=True)
class ProducedFile:
    """A file that a task made; its content is the answer's new file of the same path.

    `name` is its path below the project's folder, `size` its bytes. `description` is what was measured of it, and the
    model's words after that unless they contradict it.
    """

    path: Path
    name: str
    kind: FileKind
    size: int
    description: str

    def to_json(self) -> dict[str, Any]:
        """The row of `file_summary`."""
        return {**asdict(self), "path": str(self.path), "kind": self.kind.value}


@dataclass(frozen=True, slots=True)
class ExecutionResult:
    """How the programs of a task ended.

    `status` is `ok`, or how the last program ended if none succeeded (`RunStatus`). `stdout` is the output of the
    programs that succeeded, `stderr` that of the last one. `seconds` are those of all runs; `turns` counts the
    programs, including those that failed.
    """

    status: str
    stdout: str
    stderr: str
    seconds: float
    turns: int

    def to_json(self) -> dict[str, Any]:
        """The result as in an answer's JSON."""
        return {**asdict(self), "seconds": round(self.seconds, 3)}


EXECUTION_SCHEMA: Schema = {
    **table(status=TEXT, stdout=TEXT, stderr=TEXT, seconds=NUMBER, turns=COUNT),
    **nullable("object"),
}
"""The JSON schema of `ExecutionResult.to_json`, or null."""
FILES_SCHEMA: Schema = array(table(path=TEXT, name=TEXT, kind=TEXT, size=COUNT, description=TEXT))
"""The JSON schema of an answer's `file_summary`."""

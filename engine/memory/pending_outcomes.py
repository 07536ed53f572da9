"""Work for the next command or server: it checks whether edits that a command wrote were kept,
and takes out what undone edits left if the memory could not do so at once.

One line each, in the memory's folder, which nobody else may read.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from stet_ls.engine.memory.solution import Solution
from stet_ls.engine.memory.store_errors import translated
from stet_ls.engine.storage.file_lock import hold
from stet_ls.engine.storage.private_files import private_folder, write_private

MOST = 100
"""Edits whose fate is awaited; the oldest is given up first."""


@dataclass(frozen=True, slots=True)
class UnsettledWrite:
    """An edit in the file at `path`. `undone` tells the unit as it was before, `at` is when, in seconds since 1970.

    `solution` is what will be remembered if it stands, `used` are the rows that it was made with, `edit` is its job.
    """

    solution: Solution
    used: tuple[str, ...]
    path: Path
    roots: tuple[Path, ...]
    undone: str
    at: float
    edit: str = ""

    def to_json(self) -> str:
        """As a line."""
        places = {"path": str(self.path), "roots": [str(root) for root in self.roots]}
        known = {"solution": self.solution.to_json(), "used": list(self.used), "undone": self.undone, "at": self.at}
        return json.dumps({**known, **places, "edit": self.edit})

    @classmethod
    def from_json(cls, line: str) -> UnsettledWrite | None:
        """What a line says; None for a damaged one."""
        try:
            row = json.loads(line)
            solution, roots = Solution.from_json(row["solution"]), tuple(Path(each) for each in row["roots"])
            used, path = tuple(row["used"]), Path(row["path"])
            return cls(solution, used, path, roots, str(row["undone"]), float(row["at"]), str(row.get("edit", "")))
        except (ValueError, KeyError, TypeError):
            return None


class Undone:
    """The file of undone edits whose solutions may still be there. Its methods block, and raise StoreError."""

    def __init__(self, root: Path) -> None:
        self.path = root / "undone.jsonl"

    def edits(self) -> list[str]:
        """The edits, the oldest first."""
        try:
            lines = self.path.read_text("utf-8").splitlines()
        except OSError:
            return []
        return [line for line in lines if line]

    def add(self, edit: str) -> None:
        """Notes one more, before anything is taken out."""
        with translated(self.path):
            private_folder(self.path.parent)
        self._change(lambda edits: list(dict.fromkeys([*edits, edit]))[-MOST:])

    def remove(self, settled: Collection[str]) -> None:
        """Drops those of which nothing is left."""
        self._change(lambda edits: [each for each in edits if each not in settled])

    def _change(self, change: Callable[[list[str]], list[str]]) -> None:
        with translated(self.path), hold(self.path.with_suffix(".lock")):
            write_private(self.path, "".join(f"{each}\n" for each in change(self.edits())))


class PendingOutcomes:
    """The file. Its methods block, and raise StoreError if it cannot be written."""

    def __init__(self, root: Path) -> None:
        self.path = root / "awaited.jsonl"

    def add(self, written: UnsettledWrite) -> None:
        """Awaits the fate of one more."""
        with translated(self.path):
            private_folder(self.path.parent)
        self._change(lambda rows: [*rows, written][-MOST:])

    def due(self, seconds: float) -> list[UnsettledWrite]:
        """Those that were written so long ago; by a clock that was set back, those from the future too."""
        now = time.time()
        return [each for each in self._read() if not 0 <= now - each.at < seconds]

    def keep(self, wanted: Callable[[UnsettledWrite], bool]) -> None:
        """Gives up all others, to the last byte."""
        if self.path.exists():
            self._change(lambda rows: [each for each in rows if wanted(each)])

    def remove(self, settled: Collection[UnsettledWrite]) -> None:
        """Gives up those whose fate is known."""
        self.keep(lambda each: each not in settled)

    def sweep(self) -> None:
        """Removes what a process that died left half written."""
        with translated(self.path), hold(self.path.with_suffix(".lock")):
            for left in self.path.parent.glob(f".{self.path.name}.*"):
                left.unlink(missing_ok=True)

    def _change(self, change: Callable[[Sequence[UnsettledWrite]], Sequence[UnsettledWrite]]) -> None:
        with translated(self.path), hold(self.path.with_suffix(".lock")):
            write_private(self.path, "".join(f"{each.to_json()}\n" for each in change(self._read())))

    def _read(self) -> list[UnsettledWrite]:
        try:
            lines = self.path.read_text("utf-8").splitlines()
        except OSError:
            return []
        return [each for each in map(UnsettledWrite.from_json, lines) if each is not None]

"""Pending work for the next command or server: it checks whether edits written by a command were kept, and removes the
remains of undone edits if the memory could not do so at once.

One line per entry, in the memory's folder, which only the user can read.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from stet_ls.engine.memory.solution import Solution
from stet_ls.engine.memory.store_errors import translate_errors
from stet_ls.engine.storage.file_lock import hold
from stet_ls.engine.storage.private_files import private_folder, write_private

MOST = 100
"""Edits with a pending outcome; the oldest is dropped first."""


@dataclass(frozen=True, slots=True)
class UnsettledWrite:
    """The job `edit`'s edit of `path`, `at` seconds since 1970; `undone`: the unit before it, `used`: its rows."""

    solution: Solution
    used: tuple[str, ...]
    path: Path
    roots: tuple[Path, ...]
    undone: str
    at: float
    edit: str = ""

    def to_json(self) -> str:
        """The entry as a line."""
        places = {"path": str(self.path), "roots": [str(root) for root in self.roots]}
        known = {"solution": self.solution.to_json(), "used": list(self.used), "undone": self.undone, "at": self.at}
        return json.dumps({**known, **places, "edit": self.edit})

    @classmethod
    def from_json(cls, line: str) -> UnsettledWrite | None:
        """The entry in a line; None for a damaged one."""
        try:
            row = json.loads(line)
            solution, roots = Solution.from_json(row["solution"]), tuple(Path(each) for each in row["roots"])
            used, path = tuple(row["used"]), Path(row["path"])
            return cls(solution, used, path, roots, str(row["undone"]), float(row["at"]), str(row.get("edit", "")))
        except (ValueError, KeyError, TypeError):
            return None


class UndoneEdits:
    """The file of undone edits whose solutions may still be there. Its methods block, and raise StoreError."""

    def __init__(self, root: Path) -> None:
        self.path = root / "undone.jsonl"

    def edits(self) -> list[str]:
        """The edits, the oldest first."""
        return [line for line in _lines(self.path) if line]

    def add(self, edit: str) -> None:
        """Adds one, before any solution is removed."""
        with translate_errors(self.path):
            private_folder(self.path.parent)
        self._change(lambda edits: list(dict.fromkeys([*edits, edit]))[-MOST:])

    def remove(self, settled: Collection[str]) -> None:
        """Drops edits without remaining solutions."""
        self._change(lambda edits: [each for each in edits if each not in settled])

    def _change(self, change: Callable[[list[str]], list[str]]) -> None:
        _rewrite(self.path, lambda: change(self.edits()))


class PendingOutcomes:
    """The file. Its methods block, and raise StoreError if it cannot be written."""

    def __init__(self, root: Path) -> None:
        self.path = root / "awaited.jsonl"

    def add(self, written: UnsettledWrite) -> None:
        """Adds a written edit."""
        with translate_errors(self.path):
            private_folder(self.path.parent)
        self._change(lambda rows: [*rows, written][-MOST:])

    def due(self, seconds: float) -> list[UnsettledWrite]:
        """Edits at least `seconds` old; if the clock was set back, those from the future too."""
        now = time.time()
        return [each for each in self._read() if not 0 <= now - each.at < seconds]

    def keep(self, wanted: Callable[[UnsettledWrite], bool]) -> None:
        """Keeps the edits that `wanted` accepts, and erases the others."""
        if self.path.exists():
            self._change(lambda rows: [each for each in rows if wanted(each)])

    def remove(self, settled: Collection[UnsettledWrite]) -> None:
        """Drops edits with a known outcome."""
        self.keep(lambda each: each not in settled)

    def sweep(self) -> None:
        """Removes files left half written by a killed process."""
        with translate_errors(self.path), hold(self.path.with_suffix(".lock")):
            for left in self.path.parent.glob(f".{self.path.name}.*"):
                left.unlink(missing_ok=True)

    def _change(self, change: Callable[[Sequence[UnsettledWrite]], Sequence[UnsettledWrite]]) -> None:
        _rewrite(self.path, lambda: [each.to_json() for each in change(self._read())])

    def _read(self) -> list[UnsettledWrite]:
        return [each for each in map(UnsettledWrite.from_json, _lines(self.path)) if each is not None]


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text("utf-8").splitlines()
    except OSError:
        return []


def _rewrite(path: Path, lines: Callable[[], list[str]]) -> None:
    with translate_errors(path), hold(path.with_suffix(".lock")):
        write_private(path, "".join(f"{line}\n" for line in lines()))

"""Which targets of a batch are finished, on disk, so that `--resume` repeats none of them.

A batch is known by its arguments, of which only a hash is stored. Its file has one line per event. A target is finished
if its last line says so and its file still has the text from then; a line `writing` comes before the edit is written,
so that a process killed between the two repeats nothing either.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from stet_ls.engine.errors import UsageError
from stet_ls.engine.storage.file_lock import FileLock
from stet_ls.engine.storage.modified import modified_at
from stet_ls.engine.storage.private_files import private_folder, read_private, write_private

WRITING = "writing"
_KEPT = 50
"""Batches whose ledgers are kept; the oldest are deleted first."""


def batch_id(arguments: Sequence[object]) -> str:
    """The name of the batch with these arguments in this folder."""
    return hashlib.sha256(json.dumps([str(Path.cwd()), *arguments], default=str).encode()).hexdigest()[:16]


def fingerprint(raw: bytes) -> str:
    """The fingerprint of a file's content."""
    return hashlib.sha256(raw).hexdigest()[:32]


class BatchLedger:
    """The ledger of one batch, which one process at a time can hold: use it as a context."""

    def __init__(self, folder: Path, name: str, *, resume: bool) -> None:
        """Without `resume` the batch starts again."""
        self._path = folder / f"{name}.jsonl"
        self._lock = FileLock(folder / f"{name}.lock")
        self._resume = resume
        self._last: dict[str, dict[str, Any]] = {}

    def __enter__(self) -> BatchLedger:
        """Raises UsageError while another process runs the same batch."""
        private_folder(self._path.parent)
        if not self._lock.acquire():
            raise UsageError("this batch is already running in another process; wait for it, or change its arguments")
        if self._resume:
            self._last = _read(self._path)
        write_private(self._path, "".join(_line(row) for row in self._last.values()))
        self._prune()
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def finished(self, target: str, content: str) -> str:
        """The state in which a target finished earlier, "" if it has to run. `content` is its present fingerprint."""
        row = self._last.get(target)
        if row is None or row.get("content") != content:
            return ""
        if row["state"] != WRITING:
            return str(row["state"])
        return "written" if all(os.path.lexists(path) for path in row.get("new_files", ())) else ""

    def writing(self, target: str, content: str, new_files: Sequence[Path]) -> None:
        """Records the content that the target will have once its edit is written."""
        self._add({"target": target, "state": WRITING, "content": content, "new_files": [str(f) for f in new_files]})

    def finish(self, target: str, state: str, content: str) -> None:
        """Records that a target is finished."""
        self._add({"target": target, "state": state, "content": content})

    def _add(self, row: dict[str, Any]) -> None:
        self._last[row["target"]] = row
        with self._path.open("a", encoding="utf-8") as file:
            file.write(_line(row))

    def _prune(self) -> None:
        for old in sorted(self._path.parent.glob("*.jsonl"), key=modified_at, reverse=True)[_KEPT:]:
            with suppress(FileNotFoundError):  # another process deleted it
                old.unlink()
                old.with_suffix(".lock").unlink()


def _line(row: dict[str, Any]) -> str:
    return json.dumps(row) + "\n"


def _read(path: Path) -> dict[str, dict[str, Any]]:
    """The last line of each target. A line that a killed process cut is ignored."""
    last = {}
    for line in (read_private(path) or "").splitlines():
        try:
            row = json.loads(line)
            last[str(row["target"])] = {"state": "", **row}
        except (ValueError, KeyError, TypeError):
            continue
    return last

"""Facts about interpreters from the sandbox, cached on the disk for the next process.

The file is in the user's private folder and holds only what a sandbox reported, which is checked like a new report;
the folders that a run is shown are read from the installation each time, never from here.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from stet_ls.engine.errors import StetError
from stet_ls.engine.sandbox.environments.installation import Installation
from stet_ls.engine.storage.private_files import private_folder, read_private, write_private

_MOST = 40
"""Interpreters kept."""
_LAYOUT = 1


class ProbeCache:
    """`path` is the file; `box` identifies the sandbox of a proof, with the boot and Stet's version."""

    def __init__(self, path: Path, box: Callable[[], Awaitable[str]]) -> None:
        self._path = path
        self._box = box
        self._lock = asyncio.Lock()

    async def key(self, place: Installation, modules: Sequence[str], script: bytes) -> str:
        """Changes with anything that affects an interpreter's facts."""
        box = await self._box()
        return await asyncio.to_thread(_key, place, tuple(modules), script, box)

    async def get(self, key: str) -> Any:
        """The stored facts; None if there are none or the file was changed."""
        row = (await asyncio.to_thread(self._read)).get(key)
        if not isinstance(row, dict) or row.get("digest") != _digest(key, row.get("told")):
            return None
        return row["told"]

    async def keep(self, key: str, report: Any) -> None:
        """Stores the facts. If they cannot be written, the next process probes again."""
        async with self._lock:
            await asyncio.to_thread(self._write, key, report)

    def _read(self) -> dict[str, Any]:
        try:
            known = json.loads(read_private(self._path) or "{}")
        except (ValueError, RecursionError):
            return {}
        return known if isinstance(known, dict) else {}

    def _write(self, key: str, report: Any) -> None:
        known = {name: row for name, row in self._read().items() if name != key}
        kept = dict([*known.items(), (key, {"told": report, "digest": _digest(key, report)})][-_MOST:])
        try:
            private_folder(self._path.parent)
            write_private(self._path, json.dumps(kept))
        except (OSError, StetError):
            return


def _key(place: Installation, modules: tuple[str, ...], script: bytes, box: str) -> str:
    real = place.path.resolve()
    try:
        status = real.stat()
        state: tuple[int, ...] = (status.st_ino, status.st_size, status.st_mtime_ns)
    except OSError:
        state = ()
    binds = sorted(map(str, place.binds))
    parts = [_LAYOUT, str(place.path), str(real), state, place.stamp, binds, modules, box]
    return hashlib.sha256(json.dumps(parts).encode() + script).hexdigest()


def _digest(key: str, report: Any) -> str:
    """Detects a truncated or edited file; it does not protect against other programs of the user."""
    return hashlib.sha256(f"{key} {json.dumps(report, sort_keys=True)}".encode()).hexdigest()

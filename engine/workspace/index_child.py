"""The process that reads one root once and exits: `python -m … ROOT DATABASE [IGNORE_PATTERN…]`.

Not a thread of the server, because parsing and counting block the event loop for too long.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stet_ls.engine.errors import StetError
from stet_ls.engine.workers.host import IdleLimits, host
from stet_ls.engine.workspace.index_scan import scan
from stet_ls.engine.workspace.index_store import IndexStore, prune
from stet_ls.engine.workspace.source_files import WalkLimits

_log = logging.getLogger(__name__)

IDLE_LIMITS = IdleLimits(first_lease=30.0, last_lease=2.0, idle=12.0)
"""Idle for longer than `worker` takes to treat a child as failed."""
_NICENESS = 10


class IndexWorker:
    """The work: a thread that reads the root."""

    def __init__(self, root: str, database: str, *ignore: str) -> None:
        self._root = Path(root)
        self._store = IndexStore(Path(database))
        self._ignore = ignore
        self._thread = threading.Thread(target=self._scan, name="scan", daemon=True)

    def start(self) -> Mapping[str, Any]:
        """Starts the thread; the results are in the database."""
        if hasattr(os, "nice"):
            os.nice(_NICENESS)
        self._thread.start()
        return {}

    def active(self) -> bool:
        """True until the root is read."""
        return self._thread.is_alive()

    def _scan(self) -> None:
        try:
            prune(self._store.path.parent)
            self._store.prepare()
            status = scan(self._root, self._store, self._ignore, WalkLimits())
        except (OSError, sqlite3.Error, StetError):
            _log.exception("cannot read the root")
        else:
            _log.info("%d files in %.1f s %s", status.files, status.seconds, status.bounds)


if __name__ == "__main__":
    host(IndexWorker(*sys.argv[1:]), IDLE_LIMITS)

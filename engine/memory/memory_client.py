"""The clients' side of the memory: its process is started at first use, and restarted if it is gone."""

from __future__ import annotations

import asyncio
import hashlib
import importlib.util
import json
import logging
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stet_ls import __version__
from stet_ls.engine.errors import StetError, StoreError, StoreFault, WorkerError
from stet_ls.engine.memory.rpc import OnProgress, RpcConnection
from stet_ls.engine.memory.solution import Solution
from stet_ls.engine.settings.schema import MemorySettings
from stet_ls.engine.storage.paths import Paths
from stet_ls.engine.storage.writable import WAY_OUT, obstacle
from stet_ls.engine.workers.worker import ChildSpec, Worker
from stet_ls.validators.install_hints import install_command

_log = logging.getLogger(__name__)

_START_SECONDS = 60.0
_STORES = ("AWS_", "GOOGLE_", "AZURE_", "LANCEDB_")
"""Prefixes of environment variables for object stores."""
COMMANDS_STAY = 60.0
"""Seconds for which a process started by a command waits for the next command."""
_PAGE = 500
"""Solutions in one line of the connection."""


class MemoryClient:
    """One process's connection to the memory of the user. Belongs to one event loop; creating it is cheap."""

    def __init__(self, settings: MemorySettings, paths: Paths) -> None:
        self.stays_seconds = 2.0
        """Seconds that a memory process started from here stays after its last user: an editor window stays connected,
        but in a series of commands each one needs the process of the one before."""
        self._settings = settings
        self._paths = paths
        self._connecting = asyncio.Lock()
        self._worker: Worker | None = None
        self._link: RpcConnection | None = None
        self._warming: asyncio.Task[None] | None = None
        self._reached = asyncio.Event()
        """Set once the process is connected, or cannot be."""
        self.last_fault = ""
        """Why the last connection failed, or ""."""

    def obstacle(self) -> str | None:
        """Why there is no memory, in one sentence with the way out; None if it is available. Starts nothing."""
        if not self._settings.enabled:
            return "The memory is disabled (setting `memory.enabled`)."
        if importlib.util.find_spec("lancedb") is None:
            return f"The memory is not installed: {install_command('full')}."
        return None

    @property
    def ready(self) -> bool:
        """True if its process is connected."""
        return self._link is not None and not self._link.broken

    @property
    def folder(self) -> Path:
        """The folder of the store on this machine."""
        uri = self._settings.uri
        return Path(uri).expanduser().absolute() if uri and "://" not in uri else self._paths.memory

    @property
    def team(self) -> str:
        """The folder or the address of the team's table, "" if there is none. An address in memory.uri counts too."""
        settings = self._settings
        place = settings.team_uri or (settings.uri if "://" in settings.uri else "")
        return str(Path(place).expanduser().absolute()) if place and "://" not in place else place

    def warm(self) -> None:
        """Starts the process in the background if necessary; never waits and never fails."""
        if self.ready or self.obstacle() or (self._warming is not None and not self._warming.done()):
            return
        self._reached.clear()
        self._warming = asyncio.create_task(self._warm(), name="start the memory")

    async def connected(self) -> None:
        """Waits until the process, started if necessary, is connected. Raises StoreError. A cancel leaves the start."""
        self.warm()
        if not self.ready:
            await self._reached.wait()
        if not self.ready:
            raise StoreError(self.last_fault or "The memory's process ended.")

    async def ask(self, op: str, on_progress: OnProgress = lambda done, total: None, **fields: Any) -> Any:
        """The result of one of `store_child.OPERATIONS`; starts the process if necessary. Raises StoreError."""
        try:
            result = await (await self._connected()).ask(op, fields, on_progress)
        except StoreError as error:
            self.last_fault = "" if error.fault in (StoreFault.UNKNOWN_ID, StoreFault.REFUSED) else str(error)
            raise
        self.last_fault = ""
        return result

    async def take_in(self, solutions: Sequence[Solution], on_progress: OnProgress) -> int:
        """Stores many solutions at once with their vectors; returns how many were new."""
        new = 0
        for start in range(0, len(solutions), _PAGE):
            page = [solution.to_json() for solution in solutions[start : start + _PAGE]]
            new += await self.ask("import", solutions=page)
        await self.ask("embed", on_progress)
        return new

    async def give_out(self) -> list[dict[str, Any]]:
        """Everything that is remembered, as `Solution.to_json` writes it."""
        found: list[dict[str, Any]] = []
        while page := await self.ask("export", start=len(found), end=len(found) + _PAGE):
            found += page
        return found

    async def close(self) -> None:
        """Releases the process, which exits when it has no other users."""
        if self._warming is not None:
            self._warming.cancel()
            await asyncio.gather(self._warming, return_exceptions=True)
        if self._link is not None:
            await self._link.close()
            self._link = None
        if self._worker is not None:
            await self._worker.close()
            self._worker = None

    async def _warm(self) -> None:
        try:
            await self._connected()
            self._reached.set()
            # The port is available at once; the first answer comes when the store is open.
            await self.ask("stats")
        except StetError as error:
            self.last_fault = str(error)
            _log.warning("the memory: %s", error)
        finally:
            self._reached.set()

    async def _connected(self) -> RpcConnection:
        if (obstacle := self.obstacle()) is not None:
            raise StoreError(obstacle)
        async with self._connecting:
            if self._link is not None and not self._link.broken:
                return self._link
            if self._link is not None:
                await self._link.close()
            if (off := await asyncio.to_thread(self._nowhere)) is not None:
                raise StoreError(off, fault=StoreFault.READ_ONLY)
            if self._worker is None:
                self._worker = Worker(self._kind(), runtime=self._paths.runtime, logs=self._paths.logs)
            try:
                lease = await self._worker.lease()
            except (OSError, WorkerError) as error:
                raise StoreError(f"The memory cannot run: {error}") from error
            self._link = await RpcConnection.open(lease.info["port"], lease.info["key"])
            if self._settings.embedder == "endpoint" or self.team:
                settings, storage = self._settings, {}
                key = os.environ.get(settings.embedding_key_env, "") if settings.embedding_key_env else ""
                if "://" in self.team:  # in the format of the object stores' library
                    stores = ((name, value) for name, value in os.environ.items() if name.startswith(_STORES))
                    storage = {name.lower(): value for name, value in stores if value}
                await self._link.ask("unlock", {"key": key, "storage": storage})  # sent, never written
            return self._link

    def _nowhere(self) -> str | None:
        """Why nothing can be stored, if nothing is stored yet; then the process is not started."""
        if self.team or (self.folder / "journal.jsonl").is_file():
            return None
        found = obstacle(self.folder)
        return f"The memory is unavailable: {found}. {WAY_OUT}." if found else None

    def _kind(self) -> ChildSpec:
        settings = self._settings
        options = {
            "--embedder": settings.embedder,
            "--model": settings.embedding_model,
            "--url": settings.embedding_url,
            "--most": str(settings.max_solutions),
            "--team": self.team,
            "--team-access": settings.team_access,
            "--idle-seconds": str(settings.idle_seconds),
        }
        arguments = (str(self.folder), *(word for option in options.items() for word in option))
        # Answers depend on these, so two windows share a process only if they agree.
        identity = hashlib.sha256(json.dumps([__version__, arguments]).encode()).hexdigest()[:16]
        stays = str(min(self.stays_seconds, settings.idle_seconds))
        return ChildSpec(
            name="memory",
            module="stet_ls.engine.memory.store.store_child",
            arguments=(*arguments, "--stays-seconds", stays),
            identity=identity,
            deadline=_START_SECONDS,
        )

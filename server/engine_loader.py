"""Loads the engine after the handshake: imports and settings are read in a thread, after `initialized`.

Settings files are checked again before each job, so that a change needs neither a watcher nor a restart.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stet_ls.engine.actions.registry import Actions
    from stet_ls.engine.run import Engine
    from stet_ls.engine.settings import LoadedSettings
    from stet_ls.engine.settings.schema import Settings
    from stet_ls.engine.storage.paths import Paths
    from stet_ls.engine.workspace.symbol_index import SymbolIndex

LOGGER = logging.getLogger(__name__)

MOST_WARNINGS = 3
"""Message boxes about one reading of the settings."""


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """The settings from the editor, of the user and of the workspace. Either may come from the opened folder."""

    workspace: Mapping[str, Any] | None = None
    user: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class LoadedEngine:
    """An engine and the settings that it was made with."""

    engine: Engine
    settings: Settings


Stamp = tuple[int, ...]


class EngineLoader:
    """Holds the engine in force. `warn` shows problems to the user; `apply` is called with new settings.

    `made` is called with each new engine, before its first job.
    """

    def __init__(
        self,
        paths: Paths,
        *,
        project: Callable[[], Path | None],
        editor: Callable[[], Awaitable[ClientSettings]],
        warn: Callable[[str], None],
        apply: Callable[[Settings], None],
        made: Callable[[Engine], None] = lambda _: None,
    ) -> None:
        self._paths = paths
        self._project = project
        self._editor = editor
        self._warn = warn
        self._apply = apply
        self._made = made
        self._lock = asyncio.Lock()
        self._ready: LoadedEngine | None = None
        self._retired: list[Engine] = []
        self._stamp: Stamp = ()
        self._stale = True

    @property
    def actions(self) -> Actions | None:
        """The available actions with the settings in force; None until they are first read."""
        return self._ready.engine.actions if self._ready else None

    @property
    def settings(self) -> Settings | None:
        """The settings in force; None until they are first read."""
        return self._ready.settings if self._ready else None

    @property
    def index(self) -> SymbolIndex | None:
        """The symbol index of the engine in force; None until there is one."""
        return self._ready.engine.index if self._ready else None

    def invalidate(self) -> None:
        """Makes the next `get` read the settings again."""
        self._stale = True

    async def get(self) -> LoadedEngine:
        """The engine for the current settings. Raises SettingsError if they name an unusable endpoint."""
        async with self._lock:
            stamp = self._look()
            if self._ready is None or self._stale or stamp != self._stamp:
                self._ready = await self._load()
                self._stamp, self._stale = stamp, False
            return self._ready

    async def close_retired(self) -> None:
        """Closes the engines of former settings. Call it only when no job runs."""
        while self._retired:
            await self._retired.pop().close()

    async def close(self) -> None:
        """Closes all engines."""
        await self.close_retired()
        if self._ready is not None:
            await self._ready.engine.close()

    async def _load(self) -> LoadedEngine:
        editor = await self._editor()
        engine_class, loaded = await asyncio.to_thread(_read, self._project(), editor)
        for warning in _few(loaded.warnings):
            self._warn(warning)
        if self._ready is not None and loaded.settings == self._ready.settings:
            return self._ready
        self._apply(loaded.settings)
        if self._ready is not None:
            # Its jobs continue with the settings that they started with.
            self._retired.append(self._ready.engine)
        ready = LoadedEngine(engine_class(loaded.settings, self._paths), loaded.settings)
        if self._ready is not None:
            ready.engine.memory.inherit(self._ready.engine.memory)
        self._made(ready.engine)
        for warning in _few(ready.engine.actions.problems):
            self._warn(warning)
        return ready

    def _look(self) -> Stamp:
        from stet_ls.engine.storage.setting_files import setting_files

        return tuple(_modified(file) for file in setting_files(self._paths, self._project()))


def _read(project: Path | None, editor: ClientSettings) -> tuple[type[Engine], LoadedSettings]:
    from stet_ls.engine.actions.custom.packages import packaged
    from stet_ls.engine.run import Engine
    from stet_ls.engine.settings import load

    import_module("stet_ls.server.observability.metrics")  # imports a library
    packaged()  # imports third-party packages, so in this thread
    return Engine, load(project=project, editor=editor.workspace, editor_user=editor.user)


def _few(warnings: Sequence[str]) -> Sequence[str]:
    """The first few warnings: each is a message box, and a project's file may have a hundred wrong keys.

    The others are in the log: `stet config show` cannot list them, since it does not know the editor's settings.
    """
    for warning in warnings[MOST_WARNINGS:]:
        LOGGER.warning("%s", warning)
    more = len(warnings) - MOST_WARNINGS
    hint = "see the log and `stet config show`"
    rest = (f"{more} more problems in the settings: {hint}.",) if more > 0 else ()
    return (*warnings[:MOST_WARNINGS], *rest)


def _modified(file: Path) -> int:
    try:
        return file.stat().st_mtime_ns
    except OSError:
        return 0

"""Built environments, keyed by their contents, kept within a size limit, never removed while in use."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import hashlib
import json
import os
import platform
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from stet_ls.engine.sandbox.environments.interpreter import Environment, Interpreter, bare_environment
from stet_ls.engine.sandbox.environments.locks import lock_of, locked, locked_if_free
from stet_ls.engine.sandbox.environments.wheel_install import WEEK, MinimumAge, build
from stet_ls.engine.storage.modified import modified_at
from stet_ls.engine.storage.private_files import private_folder

LIMIT = 2 * 1024**3
"""Bytes of all environments and of uv's cache for them."""

_LAYOUT = "1"
"""Changes when the layout of environments changes."""


def key_of(interpreter: Interpreter, requirements: Iterable[str], runner: str = "") -> str:
    """The key of an environment; `runner` is the version of the test runner in it."""
    real = interpreter.path.resolve()
    machine = (platform.system(), platform.machine(), platform.libc_ver())
    parts = [_LAYOUT, "python", str(real), interpreter.version, machine, sorted(set(requirements)), runner]
    # The interpreter's packages are part of what a run sees, and constrain the versions of new ones.
    parts += [interpreter.stamp, sorted(map(str, interpreter.packages))]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


class EnvironmentStore:
    """The environments in a folder that is private to the user; several processes may share it."""

    def __init__(self, folder: Path, *, limit: int = LIMIT) -> None:
        self._folder = folder
        self._limit = limit
        self._swept = False

    @property
    def cache(self) -> Path:
        """uv's wheel cache: it must be on the environments' file system, because they share files."""
        return self._folder / "uv"

    @asynccontextmanager
    async def use(
        self, interpreter: Interpreter, requirements: Sequence[str] = (), *, fresh: MinimumAge = WEEK, runner: str = ""
    ) -> AsyncIterator[Environment]:
        """The environment with these packages, built if necessary, and kept while the block lasts.

        Raises PackagesError if it cannot be built.
        """
        if not requirements:
            yield bare_environment(interpreter)
            return
        await asyncio.to_thread(self._prepare)
        key = key_of(interpreter, requirements, runner)
        folder = self._folder / key
        while True:
            async with locked(lock_of(folder), fcntl.LOCK_SH):
                if folder.is_dir():
                    os.utime(folder)  # the least recently used go first
                    yield Environment(interpreter, key, folder, tuple(sorted(requirements)), _modules(folder))
                    return
            async with locked(lock_of(folder), fcntl.LOCK_EX):
                if not folder.is_dir():
                    await self._build(folder, interpreter, sorted(set(requirements)), fresh)
            await asyncio.to_thread(self.trim, keep=folder)

    async def _build(
        self, folder: Path, interpreter: Interpreter, requirements: Sequence[str], fresh: MinimumAge
    ) -> None:
        """Builds in another folder and renames it, so the folder is always complete."""
        async with locked(lock_of(self.cache), fcntl.LOCK_SH):
            aside = Path(tempfile.mkdtemp(prefix="building-", dir=self._folder))
            with locked_if_free(aside, os.O_RDONLY | os.O_DIRECTORY):
                try:
                    await build(aside / "it", interpreter, requirements, cache=self.cache, fresh=fresh)
                    (aside / "it").rename(folder)
                finally:
                    await asyncio.shield(asyncio.to_thread(shutil.rmtree, aside, ignore_errors=True))

    def _prepare(self) -> None:
        """Creates the folder and removes what killed processes left in it."""
        if self._swept:
            return
        private_folder(self._folder)
        self._swept = True
        for pattern in ("building-*", "removed-*"):
            for folder in self._folder.glob(pattern):
                with contextlib.suppress(OSError), locked_if_free(folder, os.O_RDONLY | os.O_DIRECTORY) as mine:
                    if mine:
                        shutil.rmtree(folder, ignore_errors=True)

    def trim(self, *, keep: Path | None = None) -> None:
        """Reduces the folder below its limit: first uv's copies, which environments no longer need, then the oldest."""
        if self.size() <= self._limit:
            return
        if self.cache.is_dir():
            with locked_if_free(lock_of(self.cache)) as mine:
                if mine:
                    self._remove(self.cache)
        for folder in sorted(self._environments(), key=modified_at):
            if self.size() <= self._limit:
                return
            if folder != keep:
                with locked_if_free(lock_of(folder)) as mine:
                    if mine:
                        self._remove(folder)

    def size(self) -> int:
        """Bytes on the disk of everything here. A file with several names counts once."""
        seen: set[tuple[int, int]] = set()
        return sum(_sizes(self._folder, seen))

    def _environments(self) -> Iterator[Path]:
        for folder in self._folder.iterdir():
            if (folder / "pyvenv.cfg").is_file():
                yield folder

    def _remove(self, folder: Path) -> None:
        """Renames an environment, then deletes it, so no process sees a partial one."""
        aside = Path(tempfile.mkdtemp(prefix="removed-", dir=self._folder))
        with contextlib.suppress(OSError):
            folder.rename(aside / "it")
        shutil.rmtree(aside, ignore_errors=True)


def _sizes(folder: Path, seen: set[tuple[int, int]]) -> Iterator[int]:
    for path, _, names in os.walk(folder):
        for name in names:
            try:
                state = os.lstat(os.path.join(path, name))  # noqa: PTH118 - tens of thousands of them
            except OSError:
                continue
            if (state.st_dev, state.st_ino) not in seen:
                seen.add((state.st_dev, state.st_ino))
                yield state.st_blocks * 512


def _modules(folder: Path) -> frozenset[str]:
    """The names that can be imported from an environment's own packages."""
    names = {
        entry.name.split(".")[0]
        for site in folder.glob("lib/python3*/site-packages")
        for entry in site.iterdir()
        if entry.suffix in (".py", ".so", "") or entry.is_dir()
    }
    return frozenset(name for name in names if name.isidentifier())

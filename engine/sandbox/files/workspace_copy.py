"""A copy of a workspace for sandboxes without overlays; kept, and updated for each run.

A run's changes to the copy are undone before the next one. For each file the `ctime` is recorded, which no program can
set back, so that a modified file with its old size and date is found too.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import hashlib
import json
import os
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from stet_ls.engine.privacy.gitignore import IgnorePattern, decision, parse
from stet_ls.engine.sandbox.files.overlay import is_hidden
from stet_ls.engine.sandbox.files.scratch import remove
from stet_ls.engine.sandbox.files.stet_folders import folder_outside, hidden_stet_folders, places
from stet_ls.engine.sandbox.spec import BoxError
from stet_ls.engine.storage.private_files import private_folder, read_private, write_private
from stet_ls.validators.project_files import read_regular

_MOST_FILES = 50_000
_MOST_BYTES = 1024 * 1024 * 1024
_MOST_ENTRIES = 200_000
"""Entries of the workspace's folders, including ignored ones and links."""
_AT_ONCE = 8
_KEPT_SECONDS = 7 * 24 * 3600.0
_NODE = "node_modules"
_SHOWN = frozenset({_NODE, ".venv", "venv"})
"""Folders of installed packages: shown read-only in place."""
_CACHES = frozenset({".cache", ".vite", ".vite-temp", ".vitest"})
"""Caches that tools write into `node_modules`; each run starts without them."""
_LEFT_OUT = frozenset({"__pycache__", ".tox", ".nox", ".mypy_cache", ".ruff_cache", ".pytest_cache"})
_SMALL = 1024 * 1024
"""Ignored files up to this size in bytes are copied: they may be generated sources."""
_LONGEST_LIST = 256_000
_RACY_NS = 50_000_000
"""A file modified this shortly before the copy may change again with the same date."""

_Stamp = tuple[int, ...]
_Lists = tuple[tuple[int, tuple[IgnorePattern, ...]], ...]
"""Ignore lists, the nearest first, each with the number of folders above it."""


@dataclass(frozen=True, slots=True)
class ShownFolder:
    """A workspace folder that a run may read, and the path at which the run expects it."""

    folder: Path
    at: Path


@dataclass(frozen=True, slots=True)
class WorkspaceCopy:
    """A copy that a run may write to. `shown` are workspace folders that links of the copy lead to.

    `own` are Stet's folders, relative to the workspace, that the copy leaves out.
    """

    folder: Path
    shown: tuple[ShownFolder, ...]
    own: frozenset[str] = frozenset()

    def unmasked(self, files: Mapping[str, bytes]) -> dict[str, bytes]:
        """Those of the files that a run may see."""
        return {name: text for name, text in files.items() if not _is_masked(name, self.own)}


@dataclass(frozen=True, slots=True)
class WorkspaceCopies:
    """Keeps copies in a folder of Stet's own. Each copy serves one run at a time."""

    folder: Path

    async def borrow(self, root: Path, stack: ExitStack, *, mounted: bool = False) -> WorkspaceCopy:
        """An up-to-date copy of the workspace at `root`, until `stack` closes.

        Packages are links in the copy. If it is `mounted` at the workspace's own path, they lead to the paths in
        `shown`, and Python environments are empty folders, to be covered by the workspace's own.

        Raises ValueError for a workspace that is too large, BoxError if too many runs have a copy each.
        """
        slot = self._slot(private_folder(folder_outside(root, self.folder)), f"{root}:{mounted}", stack)
        source = _Source(root, mounted, hidden_stet_folders(root, self.folder))
        work = asyncio.ensure_future(asyncio.to_thread(_update, source, slot))
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            # The copy is locked until it is restored.
            with contextlib.suppress(Exception):
                await work
            raise

    def sweep(self) -> int:
        """Removes the copies unused for a week; returns how many."""
        swept = 0
        for lock in (lock for place in places(self.folder) for lock in place.glob("*.lock")):
            if time.time() - lock.stat().st_mtime < _KEPT_SECONDS:
                continue
            with ExitStack() as stack:
                if _lock(lock, stack):
                    remove(lock.with_suffix(""))
                    lock.unlink()
                    swept += 1
        return swept

    def _slot(self, place: Path, kind: str, stack: ExitStack) -> Path:
        key = hashlib.sha256(os.fsencode(kind)).hexdigest()[:20]
        for number in range(_AT_ONCE):
            slot = place / f"{key}-{number}"
            if _lock(slot.with_suffix(".lock"), stack):
                return private_folder(slot).resolve()
        raise BoxError(f"{_AT_ONCE} runs already use a copy of this workspace each; wait for one to finish")


def _lock(path: Path, stack: ExitStack) -> bool:
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return False
    os.utime(lock)
    stack.callback(os.close, lock)
    return True


@dataclass(slots=True)
class _Source:
    """The source of a copy: its entries by relative path; folders come before their contents."""

    root: Path
    mounted: bool = False
    own: frozenset[str] = frozenset()
    folders: set[str] = field(default_factory=set)
    files: dict[str, os.stat_result] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    shown: list[ShownFolder] = field(default_factory=list)
    size: int = 0

    def read(self) -> None:
        pending: list[tuple[str, _Lists]] = [("", self._lists("", ()))]
        seen = 0
        while pending:
            below, lists = pending.pop()
            for name, entry in _entries(self.root, below):
                if (seen := seen + 1) > _MOST_ENTRIES:
                    raise self._too_large()
                if entry.is_symlink():
                    if not is_hidden(name, folder=False):
                        self.links[name] = str(Path(entry.path).readlink())
                elif entry.is_dir():
                    if entry.name in _SHOWN:
                        self._show(name, entry)
                    elif not self._leaves_out(name, entry.name, lists):
                        self.folders.add(name)
                        pending.append((name, self._lists(name, lists)))
                elif entry.is_file() and name not in self.own and not is_hidden(name, folder=False):
                    self._take(name, entry.stat(), lists)

    def _show(self, name: str, entry: os.DirEntry[str]) -> None:
        folder = Path(entry.path)
        if entry.name == _NODE:
            at = Path(f"/shown/{len(self.shown)}", _NODE) if self.mounted else folder
            self._link_packages(name, at)
        elif self.mounted:
            at = folder
            self.folders.add(name)
        else:
            at = folder
            self.links[name] = entry.path
        self.shown.append(ShownFolder(folder, at))

    def _link_packages(self, below: str, at: Path) -> None:
        """A folder of links, so that tools may write next to them. An existing link leads to its target in the copy.

        `at` is where the run finds the packages.
        """
        self.folders.add(below)
        for name, entry in _entries(self.root, below):
            if entry.is_symlink() and not (target := Path(entry.path).readlink()).is_absolute():
                self.links[name] = str(target)
            elif entry.name.startswith("@") and entry.is_dir():
                self._link_packages(name, at / entry.name)
            elif entry.name not in _CACHES:
                self.links[name] = str(at / entry.name)

    def _leaves_out(self, path: str, name: str, lists: _Lists) -> bool:
        unseen = path in self.own or is_hidden(path, folder=True)
        return unseen or name in _LEFT_OUT or _is_ignored(lists, path, folder=True)

    def _take(self, name: str, status: os.stat_result, lists: _Lists) -> None:
        if status.st_size > _SMALL and _is_ignored(lists, name, folder=False):
            return
        self.files[name] = status
        self.size += status.st_size
        if len(self.files) > _MOST_FILES or self.size > _MOST_BYTES:
            raise self._too_large()

    def _too_large(self) -> ValueError:
        return ValueError(
            f"{self.root} has more than {_MOST_FILES:,} files or {_MOST_BYTES >> 20:,} MB, too much to copy for a "
            "run; add what tests do not need to .gitignore, or install bubblewrap 0.11, which copies nothing"
        )

    def _lists(self, below: str, above: _Lists) -> _Lists:
        names = (".gitignore",) if below else (".gitignore", ".git/info/exclude")
        found = []
        for name in names:
            with contextlib.suppress(OSError):
                text = read_regular(self.root / below / name, most=_LONGEST_LIST).decode("utf-8", "replace")
                found.append((below.count("/") + 1 if below else 0, parse(text)))
        return (*found, *above)


def _is_ignored(lists: _Lists, name: str, *, folder: bool) -> bool:
    parts = name.split("/")
    decisions = (decision(lines, parts[depth:], folder=folder) for depth, lines in lists)
    return next((each for each in decisions if each is not None), False)


def _update(source: _Source, slot: Path) -> WorkspaceCopy:
    """Makes the copy equal to the workspace, after any change to either."""
    root = source.root
    source.read()
    tree = private_folder(slot / "tree")
    known = _manifest(slot / "manifest.json")
    (slot / "manifest.json").unlink(missing_ok=True)  # after a failed update the copy's state is unknown
    present = _clean(tree, source)
    for name in sorted(source.folders - present.keys()):
        (tree / name).mkdir(mode=0o700)
    for name, target in source.links.items():
        if name not in present:
            (tree / name).symlink_to(target)
    stamps: dict[str, _Stamp] = {}
    for name, status in source.files.items():
        stamp = _stamp(status)
        copied = present.get(name)
        if copied is not None and known.get(name) == (*stamp, *_identity(copied)):
            stamps[name] = known[name]
            continue
        if (made := _copy(root / name, tree / name, exists=copied is not None)) is not None:
            racy = time.time_ns() - status.st_mtime_ns < _RACY_NS
            stamps[name] = () if racy else (*stamp, *_identity(made))
    write_private(slot / "manifest.json", json.dumps(stamps))
    return WorkspaceCopy(tree, tuple(source.shown), source.own)


def _clean(tree: Path, source: _Source) -> dict[str, os.stat_result]:
    """Removes what the workspace does not have, or has as another type; returns the rest by relative path."""
    present: dict[str, os.stat_result] = {}
    pending = [""]
    while pending:
        below = pending.pop()
        for name, entry in _entries(tree, below):
            status = entry.stat(follow_symlinks=False)
            if stat.S_ISDIR(status.st_mode):
                if stat.S_IMODE(status.st_mode) != 0o700:
                    os.chmod(entry.path, 0o700)  # noqa: PTH101 - a folder, and all programs of the run have ended
                if name in source.folders:
                    present[name] = status
                    pending.append(name)
                else:
                    remove(Path(entry.path))
            elif (stat.S_ISREG(status.st_mode) and name in source.files) or (
                stat.S_ISLNK(status.st_mode) and source.links.get(name) == str(Path(entry.path).readlink())
            ):
                present[name] = status
            else:
                os.unlink(entry.path)  # noqa: PTH108
    return present


def _copy(source: Path, target: Path, *, exists: bool) -> os.stat_result | None:
    """Copies one file with its date and the user's mode bits; None if it is gone or no longer a file."""
    if exists:
        target.unlink()
    try:
        reading = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        status = os.fstat(reading)
        if not stat.S_ISREG(status.st_mode):
            return None
        writing = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            while os.sendfile(writing, reading, None, _SMALL):
                pass
            os.fchmod(writing, stat.S_IMODE(status.st_mode) & 0o777 | 0o600)
            os.utime(writing, ns=(status.st_atime_ns, status.st_mtime_ns))
            return os.fstat(writing)
        finally:
            os.close(writing)
    finally:
        os.close(reading)


def _stamp(status: os.stat_result) -> _Stamp:
    """The values that detect a change of a workspace file."""
    return status.st_size, status.st_mtime_ns, stat.S_IMODE(status.st_mode)


def _identity(status: os.stat_result) -> _Stamp:
    """Detects a change of a copied file, even a concealed one."""
    return status.st_ino, status.st_ctime_ns, status.st_size


def _manifest(path: Path) -> dict[str, _Stamp]:
    try:
        return {name: tuple(stamp) for name, stamp in json.loads(read_private(path) or "{}").items()}
    except (ValueError, AttributeError, TypeError):
        return {}


def _entries(root: Path, below: str) -> Iterator[tuple[str, os.DirEntry[str]]]:
    try:
        with os.scandir(root / below) as entries:
            found = list(islice(entries, _MOST_ENTRIES + 1))  # all first: the loop removes some
    except OSError:
        return
    for entry in found:
        yield f"{below}/{entry.name}" if below else entry.name, entry


def _is_masked(name: str, own: frozenset[str]) -> bool:
    parts = name.split("/")
    ways = ("/".join(parts[:count]) for count in range(1, len(parts)))
    return (
        name in own or any(way in own or is_hidden(way, folder=True) for way in ways) or is_hidden(name, folder=False)
    )

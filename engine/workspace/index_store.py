"""The database of one root: its files with stamps and definitions. Several processes may have it open."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from stet_ls.engine.storage.private_files import private_folder

_FORMAT = 1
_TIMEOUT = 0.5
"""Seconds to wait for another process's writing."""
_MOST_FOUND = 40
"""Definitions of one name that are examined: a name like `get` has too many to be useful."""
_SCHEMA = """
    create table files (
        id integer primary key, path text unique not null, language text not null,
        changed integer not null, size integer not null, hash blob not null
    );
    create table symbols (
        file integer not null references files(id) on delete cascade,
        name text not null, qualified text not null, kind text not null,
        first integer not null, last integer not null, signature text not null, doc text not null
    );
    create index symbols_by_name on symbols(name);
    create index symbols_by_file on symbols(file);
    create table facts (key text primary key, value text not null);
"""


@dataclass(frozen=True, slots=True)
class SymbolEntry:
    """What one file defines under one name. `start` and `end` count bytes of its text; `doc` is one line."""

    name: str
    qualified: str
    kind: str
    start: int
    end: int
    signature: str
    doc: str


@dataclass(frozen=True, slots=True)
class Stamp:
    """The state of a file: time of change in nanoseconds, size in bytes, hash of the content."""

    changed: int
    size: int
    hash: bytes


@dataclass(frozen=True, slots=True)
class SymbolHit:
    """An entry and its file: the path below the root with slashes, the language and the stamp."""

    path: str
    language: str
    stamp: Stamp
    entry: SymbolEntry


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """The progress of reading a root. `bounds` names the limits that were reached; "" for none."""

    complete: bool = False
    finished: float = 0.0
    files: int = 0
    seconds: float = 0.0
    bounds: str = ""


def database(folder: Path, root: Path, ignore: Sequence[str]) -> Path:
    """The path of a root's database; it depends on the user's ignore patterns too."""
    key = json.dumps([str(root), list(ignore)]).encode("utf-8", "surrogatepass")
    return folder / f"{hashlib.sha256(key).hexdigest()[:24]}.sqlite"


class IndexStore:
    """One database. Every method opens it again, so any thread may call it; it may raise OSError and sqlite3.Error."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def prepare(self) -> None:
        """Creates the database, for this user only, or replaces one of another format by an empty one."""
        private_folder(self.path.parent)
        with suppress(sqlite3.Error), self._open() as db:
            if db.execute("pragma user_version").fetchone() == (_FORMAT,):
                return
        for name in (self.path, *(self.path.with_name(self.path.name + end) for end in ("-wal", "-shm", "-journal"))):
            name.unlink(missing_ok=True)
        os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        with self._open() as db:
            db.execute("pragma journal_mode = wal")
            db.executescript(f"begin; {_SCHEMA} pragma user_version = {_FORMAT}; commit;")

    def status(self) -> IndexStatus:
        """The progress of reading; an empty status if there is no database yet."""
        if not self.path.exists():
            return IndexStatus()
        with self._open() as db:
            return _status(db)

    def set_status(self, status: IndexStatus) -> None:
        """Stores the status."""
        value = json.dumps({name: getattr(status, name) for name in IndexStatus.__slots__})
        with self._open() as db, db:
            db.execute("insert or replace into facts values ('status', ?)", (value,))

    def stamps(self) -> dict[str, Stamp]:
        """The stamps of all files, by path."""
        with self._open() as db:
            rows = db.execute("select path, changed, size, hash from files").fetchall()
        return {path: Stamp(changed, size, digest) for path, changed, size, digest in rows}

    def stamp(self, path: str) -> Stamp | None:
        """The stamp of one file; None if it is not known."""
        with self._open() as db:
            row = db.execute("select changed, size, hash from files where path = ?", (path,)).fetchone()
        return Stamp(*row) if row else None

    def put(self, files: Iterable[tuple[str, str, Stamp, Sequence[SymbolEntry] | None]]) -> None:
        """Replaces rows of files (path, language, stamp, entries), all or none; entries are kept if None."""
        with self._open() as db, db:
            for path, language, stamp, entries in files:
                (number,) = db.execute(
                    "insert into files(path, language, changed, size, hash) values (?, ?, ?, ?, ?) on conflict(path) "
                    "do update set language = excluded.language, changed = excluded.changed, size = excluded.size, "
                    "hash = excluded.hash returning id",
                    (path, language, stamp.changed, stamp.size, stamp.hash),
                ).fetchone()
                if entries is not None:
                    db.execute("delete from symbols where file = ?", (number,))
                    db.executemany(
                        "insert into symbols values (?, ?, ?, ?, ?, ?, ?, ?)",
                        [(number, e.name, e.qualified, e.kind, e.start, e.end, e.signature, e.doc) for e in entries],
                    )

    def drop(self, paths: Iterable[str]) -> None:
        """Removes files, and for a folder all below it."""
        with self._open() as db, db:
            for path in paths:
                below = (path, f"{path}/", f"{path}0")  # "0" follows "/": all that begins with the folder
                db.execute("delete from files where path = ? or (path > ? and path < ?)", below)

    def find(self, names: Sequence[str], languages: Sequence[str]) -> tuple[list[SymbolHit], IndexStatus]:
        """The definitions of some names in files of some languages, in the order of their paths; and the status."""
        query = (
            "select path, language, changed, size, hash, name, qualified, kind, first, last, signature, doc "
            "from symbols join files on files.id = symbols.file "
            "where name = ? and language in (select value from json_each(?)) order by path, first limit ?"
        )
        hits: list[SymbolHit] = []
        with self._open() as db:
            for name in names:
                wanted = (name, json.dumps(languages), _MOST_FOUND)
                for path, language, changed, size, digest, *entry in db.execute(query, wanted):
                    hits.append(SymbolHit(path, language, Stamp(changed, size, digest), SymbolEntry(*entry)))
            return hits, _status(db)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(f"{self.path.as_uri()}?mode=rw", timeout=_TIMEOUT, uri=True)) as db:
            db.execute("pragma foreign_keys = on")
            db.execute("pragma synchronous = off")  # it can be rebuilt
            yield db


def _status(db: sqlite3.Connection) -> IndexStatus:
    row = db.execute("select value from facts where key = 'status'").fetchone()
    return IndexStatus(**json.loads(row[0])) if row else IndexStatus()


def prune(folder: Path, *, days: float = 60.0) -> None:
    """Removes the databases without a write for that long."""
    for path in folder.glob("*.sqlite*"):
        with suppress(OSError):
            if path.stat().st_mtime < time.time() - days * 86_400:
                path.unlink()

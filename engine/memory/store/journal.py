"""The journal: stored, counted and forgotten solutions, one line of JSON each. It is the source of truth.

    {"crc": "58d1c3f0", "e": {"v": 1, "op": "begin", "id": GENERATION}}
    {"crc": "9ae0daaf", "e": {"v": 1, "op": "put", "solution": {...}}}
    {"crc": "...", "e": {"v": 1, "op": "count", "id": I, "uses": 3, "wins": 2, "losses": 0, "last_used_at": T}}
    {"crc": "...", "e": {"v": 1, "op": "forget", "id": I}}

Every event holds the resulting state, not the change, so that reading one twice is harmless. Writers hold the store's
lock; a line is acknowledged when it is on the disk. A line that was cut by a crash is skipped.
"""

from __future__ import annotations

import json
import os
import secrets
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

from stet_ls.engine.errors import StoreError, StoreFault
from stet_ls.engine.memory.solution import Solution
from stet_ls.engine.memory.store_errors import translate_errors

VERSION = 1
"""Of the lines. A reader refuses newer versions, because it would lose fields that it does not know."""

_LINE = 200
"""Bytes of the first line that count for the generation."""

Event = Mapping[str, Any]
Stamp = tuple[int, int]
"""A file's generation and size; another generation means that it was rewritten."""


def put(solution: Solution) -> Event:
    """The event that stores a solution."""
    return {"v": VERSION, "op": "put", "solution": solution.to_json()}


def subject(event: Event) -> str:
    """The id of the solution that an event is about."""
    return Solution.from_json(event["solution"]).id if event["op"] == "put" else str(event["id"])


def count(solution: Solution) -> Event:
    """The event with a solution's current counters."""
    names = ("uses", "wins", "losses", "last_used_at")
    return {"v": VERSION, "op": "count", "id": solution.id, **{name: getattr(solution, name) for name in names}}


def forget(ident: str) -> Event:
    """The event that removes a solution."""
    return {"v": VERSION, "op": "forget", "id": ident}


@dataclass(frozen=True, slots=True)
class JournalTail:
    """The events after an offset. `end` is the offset after the last complete line; `broken` lines were skipped."""

    events: tuple[Event, ...]
    end: int
    broken: int


class Journal:
    """The file. Its methods block; none of them takes the lock."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def stamp(self) -> Stamp:
        """Returns a stamp that changes with each write; (0, 0) without a file."""
        try:
            with self.path.open("rb") as file:
                return stamp_of(file)
        except OSError:
            return 0, 0

    def append(self, events: Iterable[Event]) -> None:
        """Writes events; on return they are on the disk. Raises StoreError if that fails, and then none is written."""
        data = b"".join(_line(event) for event in events)
        with translate_errors(self.path):
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                size = os.fstat(descriptor).st_size
                if size and os.pread(descriptor, 1, size - 1) != b"\n":
                    data = b"\n" + data  # a crash cut the previous line
                try:
                    _write(descriptor, data)
                    os.fsync(descriptor)
                except OSError:
                    os.ftruncate(descriptor, size)
                    raise
            finally:
                os.close(descriptor)

    def read(self, offset: int = 0) -> JournalTail:
        """The events from an offset on. Raises StoreError if a newer version wrote them, or the file is unreadable."""
        events: list[Event] = []
        broken = 0
        try:
            with translate_errors(self.path, FileNotFoundError), self.path.open("rb") as file:
                file.seek(offset)
                data = file.read()
        except FileNotFoundError:
            return JournalTail((), 0, 0)
        whole = data[: data.rfind(b"\n") + 1]
        for line in whole.splitlines():
            if not line.strip():
                continue
            event = event_of(line)
            if event is None:
                broken += 1
            else:
                events.append(event)
        return JournalTail(tuple(events), offset + len(whole), broken)

    def solutions(self) -> dict[str, Solution]:
        """All stored solutions, by id."""
        return replayed(self.read().events)

    def rewrite(self, solutions: Iterable[Solution]) -> None:
        """Replaces the file in one step by one with these solutions only, without any trace of forgotten ones."""
        temporary = self.path.with_name(f".{self.path.name}.new")
        with translate_errors(self.path):
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            try:
                _write(descriptor, _line({"v": VERSION, "op": "begin", "id": secrets.token_hex(8)}))
                for solution in solutions:
                    _write(descriptor, _line(put(solution)))
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            temporary.replace(self.path)
            _sync_folder(self.path.parent)


def replayed(events: Iterable[Event]) -> dict[str, Solution]:
    """The solutions that events leave, by id."""
    known: dict[str, Solution] = {}
    for event in events:
        apply(event, known)
    return known


def apply(event: Event, known: dict[str, Solution]) -> str | None:
    """Applies an event to `known`; returns the id that it was about."""
    match event["op"]:
        case "put":
            solution = Solution.from_json(event["solution"])
            known[solution.id] = solution
            return solution.id
        case "count" if event["id"] in known:
            names = ("uses", "wins", "losses", "last_used_at")
            known[event["id"]] = replace(known[event["id"]], **{name: event[name] for name in names})
            return str(event["id"])
        case "forget":
            known.pop(event["id"], None)
            return str(event["id"])
    return None


def stamp_of(file: BinaryIO) -> Stamp:
    """The stamp of an open file."""
    file.seek(0)
    return zlib.crc32(file.readline(_LINE)), os.fstat(file.fileno()).st_size


def _line(event: Event) -> bytes:
    body = json.dumps(event, ensure_ascii=True, separators=(",", ":"))
    return f'{{"crc":"{zlib.crc32(body.encode()):08x}","e":{body}}}\n'.encode()


def event_of(line: bytes) -> Event | None:
    """The event of a line; None if it is damaged."""
    body = line[line.find(b'"e":') + 4 : -1]
    try:
        fields = json.loads(line)
        event = fields["e"]
        whole = fields["crc"] == f"{zlib.crc32(body):08x}" and isinstance(event["op"], str)
        version = int(event["v"])
    except (ValueError, KeyError, TypeError):
        return None
    if whole and version > VERSION:
        raise StoreError(
            f"The memory was written by a newer version of Stet (its lines are of version {version}); update this one.",
            fault=StoreFault.NEWER,
        )
    return event if whole and _is_sound(event) else None


def _is_sound(event: Event) -> bool:
    try:
        apply(event, {})
    except (ValueError, KeyError, TypeError):
        return False
    return True


def _write(descriptor: int, data: bytes) -> None:
    with os.fdopen(descriptor, "wb", closefd=False) as file:
        file.write(data)


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

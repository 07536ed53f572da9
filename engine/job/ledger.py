"""What jobs spent: one line per job on disk, kept until the user deletes the file."""

from __future__ import annotations

import errno
import json
import logging
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field, fields
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING

from stet_ls.engine.storage.writable import WriteObstacle

if TYPE_CHECKING:
    from stet_ls.engine.api.answer import Answer

log = logging.getLogger(__name__)

_MODE = 0o600
_BLOCK = 65_536
"""Bytes that are read at once from the end of a file."""
AT = "%Y-%m-%dT%H:%M:%SZ"
"""How entries write a moment, in UTC."""


class JobEnd(StrEnum):
    """How a job ended."""

    OFFERED = "offered"
    REFUTED = "refuted"
    """There is an edit, and a judge refuted it: it is applied only if the user confirms after seeing why."""
    REFUSED = "refused"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @classmethod
    def of(cls, answer: Answer) -> JobEnd:
        """How a job with an answer ended."""
        if not answer.success:
            return cls.REFUSED
        return cls.REFUTED if answer.refuted else cls.OFFERED


@dataclass(frozen=True, slots=True)
class ArmUse:
    """How many steps an arm of a task tried and did, and the seconds that they took."""

    tried: int = 0
    done: int = 0
    seconds: float = 0.0

    def plus(self, other: ArmUse) -> ArmUse:
        """Both together."""
        return ArmUse(self.tried + other.tried, self.done + other.done, self.seconds + other.seconds)


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """What one job spent until `at` (UTC); `uncounted` tokens are estimated, `cost` is None if unknown.

    `arms` are those of a task, by name, each with the fields of `ArmUse`.
    """

    at: str
    job: str
    action: str
    model: str
    ended: str
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = 0.0
    seconds: float = 0.0
    uncounted: int = 0
    arms: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @property
    def day(self) -> str:
        """The day of its end, in UTC."""
        return self.at[:10]


@dataclass(frozen=True, slots=True)
class LedgerTotal:
    """The sum of several jobs. `unpriced` jobs are not in `cost`."""

    jobs: int = 0
    offered: int = 0
    refuted: int = 0
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    unpriced: int = 0
    seconds: float = 0.0
    uncounted: int = 0

    def plus(self, entry: LedgerEntry) -> LedgerTotal:
        """The total with one job more."""
        offered, refuted = entry.ended == JobEnd.OFFERED, entry.ended == JobEnd.REFUTED
        tokens, cost = (entry.prompt_tokens, entry.completion_tokens), (entry.cost or 0.0, entry.cost is None)
        added = (1, offered, refuted, entry.calls, *tokens, *cost, entry.seconds, entry.uncounted)
        return LedgerTotal(*map(add, astuple(self), added))

    @property
    def tokens(self) -> int:
        """Sent and received tokens, including estimates."""
        return self.prompt_tokens + self.completion_tokens + self.uncounted


GROUPS = ("day", "model", "action")
"""What totals can be grouped by."""

_NAMES = {each.name for each in fields(LedgerEntry)}


class LedgerFile:
    """The ledger on disk, one file per month. Several servers and commands may write to it at once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._reported: set[tuple[Path, int]] = set()

    def add(self, entry: LedgerEntry) -> None:
        """Writes the entry of one job. A full disk or a missing permission is logged: no job fails because of it."""
        line = (json.dumps(asdict(entry), ensure_ascii=False) + "\n").encode()
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            path = self._folder / f"{entry.at[:7]}.jsonl"
            _append(path, line)
        except OSError as error:
            log.warning("job %s is not recorded in the ledger: %s", entry.job, WriteObstacle.of(self._folder, error))

    def entries(self, *, since: date | None = None) -> Iterator[LedgerEntry]:
        """The jobs from a day on (UTC), oldest first. Damaged lines are skipped and reported once."""
        first = since.isoformat() if since else ""
        for path in sorted(self._folder.glob("????-??.jsonl")):
            if path.stem < first[:7]:
                continue
            try:
                lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
            except OSError as error:
                log.warning("cannot read %s: %s", path, error)
                continue
            entries = [_entry(line) for line in lines if line.strip()]
            broken = entries.count(None)
            if broken and (path, broken) not in self._reported:
                self._reported.add((path, broken))  # sums are computed before each call
                log.warning("%s: ignored %d damaged lines", path, broken)
            yield from (entry for entry in entries if entry and entry.day >= first)

    def latest(self, most: int, *, since: date) -> list[LedgerEntry]:
        """At most so many of the last jobs from a day on (UTC), oldest first. Reads no more of the files than it needs.

        Damaged lines are skipped.
        """
        found: list[LedgerEntry] = []
        for path in sorted(self._folder.glob("????-??.jsonl"), reverse=True):
            if len(found) >= most or path.stem < since.isoformat()[:7]:
                break
            try:
                lines = _last_lines(path, most - len(found))
            except OSError as error:
                log.warning("cannot read %s: %s", path, error)
                continue
            found = [entry for line in lines if (entry := _entry(line)) and entry.day >= since.isoformat()] + found
        return found

    def today(self) -> LedgerTotal:
        """What was spent since midnight, UTC."""
        return total(self.entries(since=datetime.now(UTC).date()))


def now() -> str:
    """This moment, as entries write it."""
    return datetime.now(UTC).strftime(AT)


def days_ago(days: int) -> date:
    """The start of a period of so many days, today included."""
    return datetime.now(UTC).date() - timedelta(days=days - 1)


def total(entries: Iterator[LedgerEntry] | Sequence[LedgerEntry]) -> LedgerTotal:
    """The sum of jobs."""
    summed = LedgerTotal()
    for entry in entries:
        summed = summed.plus(entry)
    return summed


def totals(entries: Iterator[LedgerEntry] | Sequence[LedgerEntry], by: str) -> dict[str, LedgerTotal]:
    """The sums by one of GROUPS, sorted by name."""
    sums: defaultdict[str, LedgerTotal] = defaultdict(LedgerTotal)
    for entry in entries:
        name = str(getattr(entry, by)) or "none"
        sums[name] = sums[name].plus(entry)
    return dict(sorted(sums.items()))


def _last_lines(path: Path, most: int) -> list[str]:
    """At most so many lines from the end of a file, in its order."""
    data = b""
    with path.open("rb") as file:
        at = file.seek(0, os.SEEK_END)
        while at and data.count(b"\n") <= most:
            start = max(at - _BLOCK, 0)
            file.seek(start)
            data, at = file.read(at - start) + data, start
    whole = data if not at else data.partition(b"\n")[2]
    return [line for line in whole.decode("utf-8", "replace").split("\n") if line.strip()][-most:]


def _append(path: Path, line: bytes) -> None:
    """Appends a line in one write, so that lines of several writers do not mix. Ends a line that a full disk cut."""
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, _MODE)
    try:
        size = os.fstat(descriptor).st_size
        start = b"\n" if size and os.pread(descriptor, 1, size - 1) != b"\n" else b""
        if os.write(descriptor, start + line) < len(start + line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    finally:
        os.close(descriptor)


def _entry(line: str) -> LedgerEntry | None:
    try:
        row = json.loads(line)
        entry = LedgerEntry(**{name: row[name] for name in _NAMES if name in row})
        total([entry])  # all values are numbers
        sum(value for arm in entry.arms.values() for value in arm.values())
        date.fromisoformat(entry.day)
    except (ValueError, TypeError, AttributeError):
        return None
    return entry

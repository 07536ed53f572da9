"""What hooks remember between two calls: the tree that a session began with, and the answers about trees.

One file per session and one per project, in Stet's own folder of data. Agents run hooks at the same time, and two
agents may read the same file of hooks: each file is changed under a lock.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from stet_ls.engine.storage.file_lock import hold
from stet_ls.engine.storage.paths import user_paths
from stet_ls.engine.storage.private_files import private_folder, read_private, write_private

MOST_REFUSALS = 2
"""Turns that a hook makes an agent continue, for one prompt of the user."""

_MOST_SESSIONS = 200
_MOST_ANSWERS = 30
_LONGEST_RUN = 150.0
"""Seconds after which an answer that was never given is taken to have failed."""


@dataclass(frozen=True, slots=True)
class Session:
    """One session of an agent. `base` names the tree that it began with, `refusals` are those since its last prompt.

    `refusal` is the first line of the last one.
    """

    agent: str
    session: str
    root: str
    base: str = ""
    refusals: int = 0
    refusal: str = ""
    started: float = field(default_factory=time.time)


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """What was said about two trees, and to which agent's hook. `verdict` is "" while the judges run."""

    base: str
    head: str
    owner: str
    """The agent's name."""
    verdict: str = ""
    text: str = ""
    moment: float = field(default_factory=time.time)


@contextmanager
def session_record(agent: str, session: str, root: Path) -> Iterator[list[Session]]:
    """A list with the session's record, or an empty one; what it holds at the end is stored."""
    file = _folder() / f"session-{_digest(agent, session or str(root))}.json"
    with hold(file.with_suffix(".lock")):
        rows = [Session(**values) for values in _rows(file)]
        before = list(rows)
        yield rows
        if rows != before:
            write_private(file, json.dumps([asdict(row) for row in rows]))
            _prune()


def newest_base(root: Path) -> str:
    """The tree that the newest session in a project began with; "" if there was none."""
    rows = [Session(**values) for file in _folder().glob("session-*.json") for values in _rows(file)]
    return max(
        (row for row in rows if row.root == str(root) and row.base), key=lambda row: row.started, default=_NONE
    ).base


def claim(root: Path, base: str, head: str, owner: str) -> GivenAnswer | None:
    """The right to answer about two trees, as None; or the answer that was given or is being made."""
    with _answers(root) as rows:
        found = next((row for row in rows if (row.base, row.head) == (base, head)), None)
        if found and (found.verdict or (found.owner != owner and time.time() - found.moment < _LONGEST_RUN)):
            return found
        if found:
            rows.remove(found)
        rows.append(GivenAnswer(base, head, owner))
        return None


def settle(root: Path, base: str, head: str, verdict: str, text: str) -> None:
    """Stores the answer that was claimed."""
    with _answers(root) as rows:
        rows[:] = [
            replace(row, verdict=verdict, text=text) if (row.base, row.head) == (base, head) else row for row in rows
        ]


def release(root: Path, base: str, head: str) -> None:
    """Gives a claim back that led to no answer."""
    with _answers(root) as rows:
        rows[:] = [row for row in rows if row.verdict or (row.base, row.head) != (base, head)]


_NONE = Session("", "", "")


@contextmanager
def _answers(root: Path) -> Iterator[list[GivenAnswer]]:
    file = _folder() / f"answers-{_digest(str(root))}.json"
    with hold(file.with_suffix(".lock")):
        rows = [GivenAnswer(**values) for values in _rows(file)]
        yield rows
        write_private(file, json.dumps([asdict(row) for row in rows[-_MOST_ANSWERS:]]))


def _rows(file: Path) -> list[dict[str, Any]]:
    try:
        rows = json.loads(read_private(file) or "[]")
    except ValueError:
        return []  # written by half: the next call begins again
    return rows if isinstance(rows, list) else []


def _prune() -> None:
    files = sorted(_folder().glob("session-*.json"), key=lambda file: file.stat().st_mtime, reverse=True)
    for file in files[_MOST_SESSIONS:]:
        file.unlink(missing_ok=True)
        file.with_suffix(".lock").unlink(missing_ok=True)


def _digest(*words: str) -> str:
    return sha256("\0".join(words).encode()).hexdigest()[:32]


def _folder() -> Path:
    return private_folder(user_paths().hooks)

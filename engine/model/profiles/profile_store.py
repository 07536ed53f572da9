"""What was learned about models, kept between runs: one file for each endpoint and model in the data folder.

Several servers write here at once. A file is written under another name and then moved, and a writer reads the existing
one first, so that no measurement is lost. A damaged file is reported and rewritten.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter, ValidationError

from stet_ls.engine.storage.file_lock import hold
from stet_ls.engine.storage.writable import WriteObstacle

VERSION = 1
"""Of the files. A file of a later version is neither read nor overwritten."""

Rate = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0)]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Share:
    """The share of attempts that succeeded."""

    good: Count = 0
    tried: Count = 0

    def __str__(self) -> str:
        return f"{self.good} of {self.tried}"


@dataclass(frozen=True, slots=True)
class ProbeScores:
    """The results of the self-test. `at` is a time in ISO 8601; 0, "" and None mean "unknown".

    `well_formed`: replies from which the whole unit could be read, and it parsed. `solved`: the unit was also correct.
    `search_replace`: edits by blocks that applied. `context` in tokens, as `context_from` says; `max_output` is the
    largest reply that the endpoint allows. `begins`: it continues a reply that was begun, and stops where asked.
    """

    at: str
    well_formed: Share = Share()
    solved: Share = Share()
    search_replace: Share = Share()
    json: Literal["", "schema", "object", "no"] = ""
    streams: bool | None = None
    usage: bool | None = None
    begins: bool | None = None
    loops: Count = 0
    context: Count = 0
    context_from: Literal["", "listed", "measured", "cut"] = ""
    max_output: Count = 0
    first_token_seconds: float | None = None
    calls: Count = 0
    tokens: Count = 0
    seconds: float = 0.0
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class StoredProfile:
    """All that is known of a model at an endpoint: tokens per second, counted tokens per estimated one, a probe."""

    endpoint: str
    model: str
    writing: Rate | None = None
    reading: Rate | None = None
    ratios: Annotated[tuple[Rate, ...], Field(max_length=100)] = ()
    probe: ProbeScores | None = None


class ProfileStore:
    """The folder of records. Every method blocks briefly; disk failures do not raise."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def load(self, endpoint: str, model: str) -> tuple[StoredProfile, str]:
        """The record, a new one if there is none, and a sentence if there was one that cannot be used."""
        path = self.path(endpoint, model)
        file = _read(path)
        if file.record is not None and (file.record.endpoint, file.record.model) == (endpoint, model):
            return file.record, ""
        return StoredProfile(endpoint, model), file.problem

    def save(self, record: StoredProfile) -> None:
        """Saves a record; a newer probe that another process stored in the meantime is kept."""
        path = self.path(record.endpoint, record.model)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with hold(self._folder / ".lock"):
                present = _read(path)
                if present.is_newer:
                    return
                if present.record is not None and _age(present.record.probe) > _age(record.probe):
                    record = replace(record, probe=present.record.probe)
                _write(path, record)
        except OSError as error:
            _log.warning("cannot save the profile of %s: %s", record.model, WriteObstacle.of(self._folder, error))

    def all(self) -> Iterator[tuple[Path, StoredProfile | None, str]]:
        """Every file with its record, or with the reason why it cannot be used."""
        for path in sorted(self._folder.glob("*.json")):
            file = _read(path)
            yield path, file.record, file.problem

    def path(self, endpoint: str, model: str) -> Path:
        """The path of a record: a readable name, and a hash to distinguish endpoints."""
        name = re.sub(r"[^A-Za-z0-9.]+", "-", model).strip("-.")[:60] or "model"
        digest = hashlib.sha256(f"{endpoint}\n{model}".encode()).hexdigest()[:12]
        return self._folder / f"{name}-{digest}.json"


@dataclass(frozen=True, slots=True)
class _ProfileFile:
    """A file's record, or a sentence on why it cannot be used; neither without a file."""

    record: StoredProfile | None = None
    problem: str = ""
    is_newer: bool = False


def _age(probe: ProbeScores | None) -> str:
    return "" if probe is None else probe.at


@cache
def _adapter() -> TypeAdapter[StoredProfile]:
    return TypeAdapter(StoredProfile)


def _read(path: Path) -> _ProfileFile:
    try:
        data = json.loads(path.read_bytes())
        version = data["version"]
        if isinstance(version, int) and version > VERSION:
            problem = f"The profile {path} was written by a newer version of Stet, so it is not changed"
            return _ProfileFile(problem=problem, is_newer=True)
        return _ProfileFile(_adapter().validate_python(data["record"]))
    except (FileNotFoundError, NotADirectoryError):
        return _ProfileFile()
    except OSError as error:
        return _ProfileFile(problem=f"The profile {path} cannot be read ({error.strerror})")
    except (ValueError, KeyError, TypeError, RecursionError, ValidationError):
        return _ProfileFile(
            problem=f"The profile {path} is damaged and will be replaced; run `stet model probe` to fill it"
        )


def _write(path: Path, record: StoredProfile) -> None:
    text = json.dumps({"version": VERSION, "record": asdict(record)}, indent=2)
    partial = path.with_suffix(f".{os.getpid()}.partial")
    try:
        with partial.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)

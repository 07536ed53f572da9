"""Records of earlier runs on the disk, in a private folder outside of every project and hidden from the sandbox.

A record is found by a key that holds all that its result depends on. A record that was changed, cut or cannot be read
counts as missing; one that cannot be written costs time only. Imports little: a kept conclusion is found
before anything else is loaded.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from stet_ls import __version__
from stet_ls.engine.errors import StetError
from stet_ls.engine.sandbox.environments.installation import stamp
from stet_ls.engine.storage.private_files import private_folder, read_private, write_private

_MOST_RECORDS = 4_000
_MOST_BYTES = 100_000_000
_LARGEST = 2_000_000
_SUFFIXES = (".py", ".mjs", ".cjs", ".json", ".txt", ".toml")


def read_record(folder: Path, key: str) -> str:
    """The record of a key; "" if there is none that is intact. An empty key belongs to no record."""
    text = read_private(folder / f"{key}.json") if key else None
    digest, _, data = (text or "").partition("\n")
    return data if digest == _digest(key, data) else ""


def write_records(folder: Path, records: Mapping[str, str]) -> None:
    """Writes records by their keys, and removes the oldest ones above the limits."""
    if not records:
        return
    try:
        private_folder(folder)
        for key, data in records.items():
            if len(data) <= _LARGEST:
                write_private(folder / f"{key}.json", f"{_digest(key, data)}\n{data}")
        _tidy(folder)
    except (OSError, StetError, UnicodeEncodeError):
        return


def _tidy(folder: Path) -> None:
    rows = ((each.stat(), each) for each in folder.glob("*.json"))
    size = 0
    for number, (status, path) in enumerate(sorted(rows, key=lambda row: -row[0].st_mtime)):
        size += status.st_size
        if number >= _MOST_RECORDS or size > _MOST_BYTES:
            path.unlink(missing_ok=True)


def key_of(*parts: Any) -> str:
    """The key of a result that depends on these parts, and on Stet itself."""
    return sha256(json.dumps([_own_version(), *parts], default=str).encode("utf-8", "surrogatepass")).hexdigest()


@lru_cache(maxsize=1)
def _own_version() -> str:
    """Changes with Stet's own code and the tools installed with it: a judge may answer differently."""
    package = Path(sys.modules["stet_ls"].__path__[0])
    rows = [__version__, sys.version, stamp((Path(sys.prefix),))]
    for part in ("engine", "validators"):
        rows += sorted(_states(str((package / part).resolve())))
    return sha256("\n".join(rows).encode("utf-8", "surrogatepass")).hexdigest()


def _states(folder: str) -> Iterator[str]:
    """The files below a folder of Stet's own, each with its size and time."""
    for entry in os.scandir(folder):
        if entry.is_dir():
            yield from _states(entry.path) if entry.name != "__pycache__" else ()
        elif entry.name.endswith(_SUFFIXES):
            status = entry.stat()
            yield f"{entry.path} {status.st_size} {status.st_mtime_ns}"


def _digest(key: str, data: str) -> str:
    """Detects a changed file; another program of the user could write a valid one."""
    return sha256(f"{key}\n{data}".encode("utf-8", "surrogatepass")).hexdigest()

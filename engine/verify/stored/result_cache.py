"""Results of earlier runs on the disk, in a private folder outside of every project and hidden from the sandbox.

A record is found by a key that holds all that its result depends on. A record that was changed, cut or cannot be read
counts as missing; one that cannot be written costs time only.
"""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from stet_ls import __version__
from stet_ls.engine.errors import StetError
from stet_ls.engine.sandbox.environments.installation import stamp
from stet_ls.engine.storage.private_files import private_folder, read_private, write_private

T = TypeVar("T")
_MOST_RECORDS = 2_000
_MOST_BYTES = 100_000_000
_LARGEST = 2_000_000
_ADAPTERS: dict[Any, TypeAdapter[Any]] = {}
_SUFFIXES = (".py", ".mjs", ".cjs", ".json", ".txt", ".toml")


@dataclass
class VerifyCache:
    """Records below `folder`. Without `is_on`, nothing is read or written.

    New records are written by `write`, once it is known that the project did not change meanwhile.
    """

    folder: Path
    is_on: bool = True
    _new: dict[str, str] = field(default_factory=dict, repr=False)

    def get(self, kind: type[T], key: str) -> T | None:
        """The record of a key; None if there is none that is intact. An empty key belongs to no record."""
        text = read_private(self.folder / f"{key}.json") if self.is_on and key else None
        digest, _, data = (text or "").partition("\n")
        if not data or digest != _digest(key, data):
            return None
        try:
            found: T = _adapter(kind).validate_json(data)
        except (ValidationError, RecursionError):
            return None
        return found

    def put(self, kind: type[T], key: str, result: T) -> None:
        """Keeps a record for `write`. One with the name of a file that is not UTF-8 is not kept."""
        if self.is_on and key:
            with suppress(PydanticSerializationError):
                self._new[key] = _adapter(kind).dump_json(result).decode("utf-8", "surrogatepass")

    def write(self) -> None:
        """Writes the new records, and removes the oldest ones above the limits."""
        if not self._new:
            return
        try:
            private_folder(self.folder)
            for key, data in self._new.items():
                if len(data) <= _LARGEST:
                    write_private(self.folder / f"{key}.json", f"{_digest(key, data)}\n{data}")
            self._tidy()
        except (OSError, StetError, UnicodeEncodeError):
            return

    def _tidy(self) -> None:
        rows = ((each.stat(), each) for each in self.folder.glob("*.json"))
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
        for path in sorted((package / part).resolve().rglob("*")):
            if path.suffix in _SUFFIXES:
                status = path.stat()
                rows.append(f"{path} {status.st_size} {status.st_mtime_ns}")
    return sha256("\n".join(rows).encode("utf-8", "surrogatepass")).hexdigest()


def _adapter(kind: Any) -> TypeAdapter[Any]:
    if kind not in _ADAPTERS:
        _ADAPTERS[kind] = TypeAdapter(kind)
    return _ADAPTERS[kind]


def _digest(key: str, data: str) -> str:
    """Detects a changed file; another program of the user could write a valid one."""
    return sha256(f"{key}\n{data}".encode("utf-8", "surrogatepass")).hexdigest()

"""Typed results of earlier runs, as records on the disk."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from stet_ls.engine.verify.stored.records import read_record, write_records

T = TypeVar("T")
_ADAPTERS: dict[Any, TypeAdapter[Any]] = {}


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
        data = read_record(self.folder, key) if self.is_on else ""
        try:
            found: T | None = _adapter(kind).validate_json(data) if data else None
        except (ValidationError, RecursionError):
            return None
        return found

    def put(self, kind: type[T], key: str, result: T) -> None:
        """Keeps a record for `write`. One with the name of a file that is not UTF-8 is not kept."""
        if self.is_on and key:
            with suppress(PydanticSerializationError):
                self.put_text(key, _adapter(kind).dump_json(result).decode("utf-8", "surrogatepass"))

    def put_text(self, key: str, data: str) -> None:
        """Keeps a record that is a text already."""
        if self.is_on and key:
            self._new[key] = data

    def write(self) -> None:
        """Writes the new records."""
        write_records(self.folder, self._new)


def _adapter(kind: Any) -> TypeAdapter[Any]:
    if kind not in _ADAPTERS:
        _ADAPTERS[kind] = TypeAdapter(kind)
    return _ADAPTERS[kind]

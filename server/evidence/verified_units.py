"""What verify found: the evidence of each unit, and what is shown in a file, also if it is opened later."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stet_ls.engine.errors import UsageError
from stet_ls.server.evidence.code_lenses import VerifiedLens
from stet_ls.server.evidence.evidence_files import EvidenceFiles
from stet_ls.validators.findings import Finding

if TYPE_CHECKING:
    from stet_ls.engine.api.evidence import Evidence

_PREFIX = "verify-"
_MOST_UNITS = 500
_MOST_FILES = 200


@dataclass(frozen=True, slots=True)
class VerifiedFile:
    """What to show in a file: places are those of `text`, in which line ends are line feeds."""

    text: str
    findings: tuple[Finding, ...] = ()
    lenses: tuple[VerifiedLens, ...] = ()


@dataclass(frozen=True, slots=True)
class _Unit:
    title: str
    lines: tuple[Evidence, ...]


@dataclass
class VerifiedUnits:
    """The newest results of one client."""

    _evidence: EvidenceFiles
    _units: OrderedDict[str, _Unit] = field(default_factory=OrderedDict)
    _files: OrderedDict[Path, VerifiedFile] = field(default_factory=OrderedDict)
    _of_save: asyncio.Future[Any] | None = None
    _numbers: count[int] = field(default_factory=lambda: count(1))

    def add(self, title: str, lines: tuple[Evidence, ...]) -> str:
        """Keeps a unit's evidence; returns the key by which `show` finds it."""
        key = f"{_PREFIX}{next(self._numbers)}"
        self._units[key] = _Unit(title, lines)
        while len(self._units) > _MOST_UNITS:
            self._evidence.drop(self._units.popitem(last=False)[0])
        return key

    def owns(self, key: str) -> bool:
        """Whether a key is one of a unit, not of a job."""
        return key.startswith(_PREFIX)

    async def show(self, key: str, check: str, *, opens: bool) -> Any:
        """Opens the evidence of a unit as that of a job is opened. UsageError if it is no longer kept."""
        unit = self._units.get(key)
        if unit is None:
            raise UsageError(f"job: the evidence of {key} is no longer kept; run `stet.verify` again.")
        return await self._evidence.show_unit(key, unit.title, unit.lines, check, opens=opens)

    def keep(self, files: Mapping[Path, VerifiedFile], only: Path | None) -> None:
        """Keeps what to show in files, in case that they are opened; of the last run what is not about `only` stays."""
        if only is None:
            self._files.clear()
        else:
            self._files.pop(only, None)
        for path, file in files.items():
            self._files.pop(path, None)
            self._files[path] = file
        while len(self._files) > _MOST_FILES:
            self._files.popitem(last=False)

    @property
    def has_files(self) -> bool:
        """Whether anything is kept for files."""
        return bool(self._files)

    def supersede(self, run: asyncio.Future[Any]) -> None:
        """A file was saved: ends the run of the last save, whose text is old."""
        if self._of_save is not None:
            self._of_save.cancel()
        self._of_save = run

    def close(self) -> None:
        """Ends the run of the last save."""
        if self._of_save is not None:
            self._of_save.cancel()

    def of(self, path: Path | None) -> VerifiedFile | None:
        """What to show in a file."""
        return self._files.get(path) if path is not None else None

    def forget(self) -> None:
        """Drops what was kept for files that are opened later."""
        self._files.clear()

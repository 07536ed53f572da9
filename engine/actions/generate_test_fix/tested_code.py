"""The code that the loop's tests are for."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class CodeUnderTest:
    """The file with the `unit` (a qualified name) that tests call; its build sees `root`, None outside all folders."""

    path: Path
    text: str
    unit: str
    root: Path | None = None

    @property
    def outermost(self) -> str:
        """The top-level function or class that is the unit or holds it."""
        return self.unit.partition(".")[0]

    def seen_from(self, tests: Path) -> str:
        """Its path relative to the file of the tests."""
        return Path(os.path.relpath(self.path, tests.parent)).as_posix()

    def innermost(self, marker: str) -> Path | None:
        """The nearest folder above it that has a file `marker`, within the root; the root if none has."""
        above = (each for each in self.path.parents if self.root is not None and each.is_relative_to(self.root))
        return next((each for each in above if (each / marker).is_file()), self.root)

"""Which packages a code needs by way of its own workspace: what it imports there has imports of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from stet_ls.engine.sandbox.environments.imported_modules import Imported, Imports, imported, imports
from stet_ls.validators.project_files import read_regular

_FOLDERS = ("", "src", "lib", "python", "tests", "test")
"""Where a workspace's own modules usually lie, relative to its root."""
_MOST_FILES = 150
"""Modules of the workspace that are read for one code: a job waits for them."""
_LARGEST = 400_000
"""Bytes of a module that is read."""


@dataclass(frozen=True, slots=True)
class Sources:
    """The workspace at `root`, with the unsaved texts of some of its files by their paths."""

    root: Path
    unsaved: Mapping[Path, str] = field(default_factory=dict)

    def imports(self, texts: Iterable[str], path: Path | None) -> Imports:
        """What texts import that stand at `path`, and what the workspace's modules behind them import.

        A module that is imported optionally makes all of its own imports optional. Reads files: not for an event loop.
        """
        wanted = Imports()
        pending: list[tuple[str, Path | None, bool]] = [(text, path, False) for text in texts]
        # What is needed after it was optional is looked at once more.
        seen: dict[Path, bool] = {} if path is None else {path: False}
        for file in self._packages(path):
            if file not in seen and (read := self._read(file)) is not None:
                seen[file] = False
                pending.append((read, file, False))
        while pending:
            text, place, optional = pending.pop(0)
            found = imports(text)
            wanted |= Imports(optional=found.needed | found.optional) if optional else found
            for each in imported(text):
                caught = optional or each.optional
                for file in self._files(each, place, path):
                    is_new = file not in seen and len(seen) < _MOST_FILES
                    if (is_new or (seen.get(file) and not caught)) and (read := self._read(file)) is not None:
                        seen[file] = caught
                        pending.append((read, file, caught))
        return wanted

    def _packages(self, path: Path | None) -> Iterator[Path]:
        """What is run before a file of a package is."""
        folder = path.parent if path is not None else self.root
        while folder != self.root and folder.is_relative_to(self.root) and (folder / "__init__.py").is_file():
            yield folder / "__init__.py"
            folder = folder.parent

    def _files(self, each: Imported, place: Path | None, target: Path | None) -> Iterator[Path]:
        """The workspace's files that are run when a module is imported: those of the packages around it, too."""
        parts = each.name.split(".")
        if not all(part.isidentifier() for part in parts):
            return
        if each.level:
            folders = list(place.parents[each.level - 1 : each.level]) if place is not None else []
        else:
            above = [] if target is None else [folder for folder in target.parents if folder.is_relative_to(self.root)]
            folders = list(dict.fromkeys((*(self.root / name for name in _FOLDERS), *above)))
        for folder in folders:
            if not folder.is_relative_to(self.root):
                continue
            for depth in range(1, len(parts) + 1):
                inner = folder.joinpath(*parts[:depth])
                yield inner.with_name(f"{inner.name}.py")
                yield inner / "__init__.py"

    def _read(self, file: Path) -> str | None:
        if file in self.unsaved:
            return self.unsaved[file]
        try:
            return read_regular(file, most=_LARGEST).decode("utf-8", "replace")
        except (OSError, ValueError):
            return None

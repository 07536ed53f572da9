"""The packages that code needs through its own workspace: workspace modules have imports of their own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from stet_ls.engine.sandbox.environments.imported_modules import Imported, Imports, imported, imports
from stet_ls.validators.project_files import read_regular

_FOLDERS = ("", "src", "lib", "python", "tests", "test")
"""Usual folders of a workspace's own modules, relative to its root."""
_MOST_FILES = 150
"""Workspace modules read for one piece of code, because a job waits for them."""
_LARGEST = 400_000
"""Bytes of a module that is read."""


@dataclass(frozen=True, slots=True)
class WorkspaceSources:
    """The workspace at `root`, with unsaved texts of its files by path."""

    root: Path
    unsaved: Mapping[Path, str] = field(default_factory=dict)

    def imports(self, texts: Iterable[str], path: Path | None) -> Imports:
        """The imports of texts located at `path`, and of the workspace modules that they import.

        Imports of an optionally imported module are optional too. Reads files: not for an event loop.
        """
        wanted = Imports()
        pending: list[tuple[str, Path | None, bool]] = [(text, path, False) for text in texts]
        # A module first seen as optional is read again if it is also required.
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
        """The package files that run before a module of the package."""
        folder = path.parent if path is not None else self.root
        while folder != self.root and folder.is_relative_to(self.root) and (folder / "__init__.py").is_file():
            yield folder / "__init__.py"
            folder = folder.parent

    def _files(self, each: Imported, place: Path | None, target: Path | None) -> Iterator[Path]:
        """The workspace files that run when a module is imported, including those of its parent packages."""
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

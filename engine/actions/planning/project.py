"""The files of a project that a plan may name, with their texts and what they define."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from stet_ls.engine.actions.computing.file_facts import DATA_SUFFIXES
from stet_ls.engine.api.request import Request
from stet_ls.engine.privacy.ignored_files import IgnoredFiles
from stet_ls.engine.workspace.neighbors import neighbors
from stet_ls.engine.workspace.visible_files import may_show
from stet_ls.validators.containment import is_inside
from stet_ls.validators.languages import LANGUAGES, language_of
from stet_ls.validators.project_files import read_regular
from stet_ls.validators.source import Source
from stet_ls.validators.structure import units

_MOST_FILES, _MOST_NAMES = 40, 12
_KEYWORDS = "class|def|enum|fn|func|function|interface|module|object|record|struct|trait|type"
"""What precedes the name of a definition where nothing of note follows it."""
_LARGEST = 200_000
"""Bytes of a named file that is read."""


@dataclass(frozen=True, slots=True)
class Project:
    """The files that a plan may name, with their texts, by their path relative to their common folder.

    `languages` are those in which a plan may add a file.
    """

    root: Path
    files: Mapping[str, str]
    languages: frozenset[str] = field(default=frozenset(), compare=False)

    def listing(self) -> str:
        """One line per file: its path and its definitions."""
        lines = []
        for name in self.files:
            defined = [unit for unit in self.defined(name) if "." not in unit or len(self.files) == 1][:_MOST_NAMES]
            lines.append(f"{name}: {', '.join(defined)}" if defined else name)
        return "\n".join(lines)

    def defined(self, name: str) -> tuple[str, ...]:
        """The qualified names of the units of a file."""
        return _units(self.files.get(name, ""), language_of(name))

    def defining(self, words: Collection[str]) -> list[str]:
        """The files that may define a unit with one of these names: parsing all of them takes far longer."""
        parts = sorted({part for word in words if (part := word.rpartition(".")[2])})
        any_name = "|".join(map(re.escape, parts))
        defined = re.compile(rf"\b(?:{_KEYWORDS})\s+(?:{any_name})\b|\b(?:{any_name})\b\s*[(=<:{{]")
        likely = (name for name, text in self.files.items() if any(part in text for part in parts))
        return [name for name in likely if defined.search(self.files[name])]

    def name_of(self, path: Path) -> str:
        """The path as its files are called."""
        return path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else ""

    def place(self, file: str) -> Path | None:
        """The path of a file that a plan names: a listed one, by path or unique name, or a new one in the folder of
        a listed one.

        None for any other: a path outside of the workspace, a hidden file, or one that exists and is not listed.
        """
        if file in self.files:
            return self.root / file
        same = [name for name in self.files if Path(name).name == file]
        if len(same) == 1:
            return self.root / same[0]
        new, place = Path(file), self.root / file
        if new.is_absolute() or any(part.startswith(".") for part in new.parts):
            return None
        # A link could lead out of the project, and an existing file must not be overwritten.
        if place.exists() or place.is_symlink() or not is_inside(place.parent, self.root):
            return None
        known = new.parent in {Path(name).parent for name in self.files}
        return place if known and language_of(place) in self.languages else None

    def data(self, file: str) -> Path | None:
        """The path of data that a plan names: a file, or one that an earlier step makes; None outside of the root."""
        path = self.root / file
        inside = is_inside(path, self.root) and not any(part.startswith(".") for part in Path(file).parts)
        return path if inside and not Path(file).is_absolute() and not path.is_dir() else None


@lru_cache(maxsize=2 * _MOST_FILES)
def _units(text: str, language: str) -> tuple[str, ...]:
    """The qualified names of a text's units. Rules, listing, plan and the next task ask for the same ones."""
    return tuple(unit.qualified for unit in units(Source(text), language))


def project(request: Request, own: Sequence[str] = ()) -> Project:
    """The document, the named files and their neighbors; `own` are patterns of hidden files. Reads files."""
    assert request.path is not None, "a task needs a place"
    path = request.path.absolute()
    roots = [root for root in request.workspace.roots if path.is_relative_to(root)]
    root = roots[0] if roots else path.parent
    files = {path.relative_to(root).as_posix(): request.source.text} if request.source.text or path.exists() else {}
    hidden = IgnoredFiles(request.workspace, tuple(own))
    buffers = {buffer.path: buffer.text for buffer in request.workspace.buffers}
    for other in request.task.files if request.task is not None else ():
        if other.is_relative_to(root) and may_show(request, other, hidden):
            name, text = other.relative_to(root).as_posix(), buffers.get(other)
            if text is None and _is_large_data(other):
                continue  # programs read it in place
            files[name] = read_regular(other, most=_LARGEST).decode("utf-8", "replace") if text is None else text
    for other, data in neighbors(request):
        if len(files) >= _MOST_FILES:
            break
        if other.is_relative_to(root) and may_show(request, other, hidden):
            files.setdefault(other.relative_to(root).as_posix(), data.decode("utf-8", "replace"))
    return Project(root, files, frozenset({request.language, *map(language_of, files), *_named(request.instruction)}))


def _is_large_data(path: Path) -> bool:
    return path.suffix.lower() in DATA_SUFFIXES and path.stat().st_size > _LARGEST


def _named(instruction: str) -> list[str]:
    """The languages that an instruction names, such as the one to which a file is to be ported."""
    words = set(re.findall(r"[\w+#]+", instruction))
    return [row.id for row in LANGUAGES if row.title in words]

"""What a run on files of a tree depends on: those files, and all that they can reach.

A file reaches another if any word in it is that file's name without its suffix, or the name of its folder: imports,
by whatever means, name what they load. Files that are no code, and files of tests' set-up, always count.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from pathlib import PurePosixPath
from types import MappingProxyType

from stet_ls.engine.judges.project_tests.discovery import ProjectFile
from stet_ls.engine.verify.changes.change import Change, ChangedFile, is_of_tests
from stet_ls.engine.verify.changes.tree import TreeEntry
from stet_ls.engine.verify.changes.units import is_code

_MOST_FILES = 2_000
_MOST_CHARACTERS = 20_000_000
_INDEX = frozenset({"__init__", "index", "mod", "main"})


class ReachedFiles:
    """The contents that runs depend on. `project` are the source files of a language family, on the new side."""

    def __init__(self, change: Change, project: Sequence[ProjectFile], files: Sequence[ChangedFile]) -> None:
        self._change = change
        self._texts = {each.path: each.text for each in project}
        for each in filter(is_code, files):  # a word of either side may load something
            for path, data in ((each.path, each.after), (each.was, each.before)):
                self._texts[path] = f"{self._texts.get(path, '')}\n{each.text(data) or ''}"
        size = sum(map(len, self._texts.values()))
        self._is_small = len(self._texts) <= _MOST_FILES and size <= _MOST_CHARACTERS

    def old(self, paths: Iterable[str], instead: Mapping[str, str] = MappingProxyType({})) -> str:
        """Identifies what runs on the old tree depend on that begin in these files; `instead` are the identities of
        files of which only a part counts.
        """
        return self._id({**self._rest, **self._change.base.files}, paths, instead)

    def new(self, paths: Iterable[str], instead: Mapping[str, str] = MappingProxyType({})) -> str:
        """Identifies what runs on the new tree depend on that begin in these files; `instead` as for `old`."""
        return self._id(self._change.head.files, paths, instead)

    def starts_processes(self, path: str) -> bool:
        """Whether a run that begins in this file may start other programs: a word of what it reaches says so."""
        shared = {each for each in self._texts if PurePosixPath(each).name == "conftest.py"}
        return any(_PROCESSES.search(self._texts.get(each, "")) for each in self._reached([path, *shared]))

    @cached_property
    def _rest(self) -> Mapping[str, TreeEntry]:
        """What only the new tree has and is no code: it is on the disk whatever runs."""
        return {path: each for path, each in self._change.head.files.items() if path not in self._texts}

    def _id(self, entries: Mapping[str, TreeEntry], paths: Iterable[str], instead: Mapping[str, str]) -> str:
        wanted = self._reached(paths) if self._is_small else self._texts.keys()
        digest = sha256()
        for path in sorted(entries):
            if path in wanted or path not in self._texts or is_of_tests(path):
                entry = entries[path]
                identity = instead.get(path, entry.id)
                digest.update(f"{path}\0{entry.mode}\0{identity}\n".encode("utf-8", "surrogateescape"))
        return digest.hexdigest()

    def _reached(self, paths: Iterable[str]) -> set[str]:
        pending = [*paths]
        found = {*pending}
        while pending:
            more = {each for word in self._words(pending.pop()) for each in self._named[word]} - found
            found |= more
            pending += more
        return found

    @cached_property
    def _named(self) -> Mapping[str, set[str]]:
        """The files by the words that may load them."""
        found: defaultdict[str, set[str]] = defaultdict(set)
        for path in self._texts:
            pure = PurePosixPath(path)
            for name in (pure.stem, *(pure.parts[:-1] if pure.stem in _INDEX else ())):
                for word in _WORD.findall(name):
                    found[word].add(path)
        return found

    def _words(self, path: str) -> set[str]:
        if path not in self._known:
            # A package may load what is next to it, by `from . import name` or by listing its own folder.
            self._known[path] = {*_WORD.findall(self._texts.get(path, ""))} | {*PurePosixPath(path).parts[:-1]}
        return self._known[path]

    @cached_property
    def _known(self) -> dict[str, set[str]]:
        return {}


_WORD = re.compile(r"\w+")
_PROCESSES = re.compile(
    r"subprocess|Popen|multiprocessing|ProcessPool|pytester|testdir|\bos\.(fork|exec|spawn|system|po)"
)

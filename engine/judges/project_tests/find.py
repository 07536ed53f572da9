"""Which test files of a project touch a target: they import its module and name it, or import what imports it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from stet_ls.engine.prompt.bindings import bindings, closeness
from stet_ls.engine.prompt.index.walk import LARGEST, Limits, Walk
from stet_ls.validators.languages import language_of
from stet_ls.validators.project_files import read_regular
from stet_ls.validators.source import Source
from stet_ls.validators.structure import imports

MOST_FILES = 12
"""Test files that are run for one target; a job waits for them."""

_LIMITS = Limits(files=5_000, entries=50_000, bytes=60_000_000, seconds=3.0)
_TEST = re.compile(
    r"(^|/)(test_[^/]*|[^/]*(_test|Test|Tests|\.test|\.spec))\.\w+$|(^|/)(tests?|__tests__|spec)/", re.ASCII
)
_HELPER = re.compile(r"(^|/)(conftest|__init__|setup|helpers?|utils?|fixtures?)\.\w+$")
_ALIKE = (frozenset({"javascript", "javascriptreact", "typescript", "typescriptreact"}), frozenset({"c", "cpp"}))
_SAME_PACKAGE = frozenset({"go", "java", "csharp", "rust", "c", "cpp"})
"""Languages in which a test may name what it does not import."""


@dataclass(frozen=True, slots=True)
class _File:
    path: str
    text: str


def is_test(path: str) -> bool:
    """True for the path of a test file, relative to its root, by the conventions of the languages."""
    return _TEST.search(path) is not None and _HELPER.search(path) is None


def touching(root: Path, path: Path, unit: str, language: str, buffers: Mapping[Path, str]) -> tuple[str, ...]:
    """The test files that touch `unit` ("" for all) of the file `path`, relative to `root`, the surest first.

    Reads the project, unsaved `buffers` first: not for an event loop.
    """
    files = list(_files(root, language, buffers))
    own = path.relative_to(root).as_posix()
    tests = [file for file in files if is_test(file.path) and file.path != own]
    if is_test(own):
        return (own,)
    name = unit.partition(".")[0]
    direct = {file.path: _nearness(root, file, path, name, language) for file in tests}
    near = sorted((far, found) for found, far in direct.items() if far is not None)
    if not near:
        near = [(2, found) for found in _by_way_of_another(root, files, tests, path, name, language)]
    return tuple(found for _, found in near)[:MOST_FILES]


def _nearness(root: Path, file: _File, target: Path, name: str, language: str) -> int | None:
    """0: it imports the target and names it; 1: it imports it; None: neither."""
    named = bool(name) and re.search(rf"\b{re.escape(name)}\b", file.text) is not None
    if not named and not _mentions(file.text, target):
        return None
    source = Source(file.text)
    statements = [source.slice(span) for span in imports(source, language)]
    for binding in bindings(statements, language, root / file.path):
        # Another name of the same module will do: what it calls may call the unit.
        if any(closeness(binding, each, target) is not None for each in (name, *binding.names.values())):
            return 0 if named else 1
    return 0 if named and language in _SAME_PACKAGE else None


def _by_way_of_another(
    root: Path, files: list[_File], tests: list[_File], target: Path, name: str, language: str
) -> Iterator[str]:
    """The tests of what imports the target."""
    between = [
        root / file.path
        for file in files
        if not is_test(file.path) and _nearness(root, file, target, name, language) is not None
    ]
    for test in tests:
        if any(_nearness(root, test, each, "", language) is not None for each in between if each != target):
            yield test.path


def _mentions(text: str, target: Path) -> bool:
    """True if a text holds the name by which a file is imported."""
    stem = target.parent.name if target.stem in ("__init__", "index", "mod") else target.stem
    return re.search(rf"\b{re.escape(stem)}\b", text) is not None


def _files(root: Path, language: str, buffers: Mapping[Path, str]) -> Iterator[_File]:
    alike = next((group for group in _ALIKE if language in group), frozenset({language}))
    for path, text in buffers.items():
        if path.is_relative_to(root) and language_of(path) in alike:
            yield _File(path.relative_to(root).as_posix(), text)
    for found in Walk(root, limits=_LIMITS).files():
        path = root / found.path
        if found.language not in alike or path in buffers:
            continue
        try:
            yield _File(found.path, read_regular(path, most=LARGEST).decode("utf-8", "replace"))
        except OSError:
            continue

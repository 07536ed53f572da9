"""Finds the test files that touch a target: they import its module and name it, or import something that imports it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path

from stet_ls.engine.execution.python.statements import words
from stet_ls.engine.judges.project_tests.reachability import names_leading_to, with_callers
from stet_ls.engine.prompt.context.import_bindings import bindings, closeness
from stet_ls.engine.workspace.source_files import LARGEST, SourceWalk, WalkLimits
from stet_ls.validators.languages import family, for_language, language_of
from stet_ls.validators.project_files import read_regular
from stet_ls.validators.source import Source
from stet_ls.validators.structure import imports
from stet_ls.validators.test_files import is_test_file

MOST_FILES = 12
"""The limit of test files run for one target; a job waits for them."""

_LIMITS = WalkLimits(files=5_000, entries=50_000, bytes=60_000_000, seconds=3.0)
_HELPER = re.compile(r"(^|/)(conftest|__init__|setup|helpers?|utils?|fixtures?)\.\w+$")


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """A source file of a project, with its path below the root."""

    path: str
    text: str


def is_test(path: str) -> bool:
    """True for the path of a test file, relative to its root, that is no helper of tests."""
    return is_test_file(path) and _HELPER.search(path) is None


@dataclass(frozen=True, slots=True)
class TouchingTests:
    """Test files relative to their root, the most certain first.

    `leads` are the names that lead to the unit, including those of the tests' helpers; None if names are not enough.
    `texts` are the texts of the files, `helpers` those of the helpers.
    """

    tests: tuple[str, ...]
    leads: frozenset[str] | None = field(default=None, compare=False)
    texts: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    helpers: tuple[str, ...] = field(default=(), repr=False, compare=False)


def touching_tests(root: Path, path: Path, unit: str, language: str, buffers: Mapping[Path, str]) -> TouchingTests:
    """The test files that touch `unit` ("" for all) of the file `path`.

    Reads the project, unsaved `buffers` first: not for an event loop.
    """
    return touching_tests_among(project_files(root, language, buffers), root, path, unit, language)


def touching_tests_among(
    files: Sequence[ProjectFile], root: Path, path: Path, unit: str, language: str
) -> TouchingTests:
    """As `touching_tests`, among files that were read. Parses: not for an event loop."""
    own = path.relative_to(root).as_posix()
    tests = [file for file in files if is_test(file.path) and file.path != own]
    if is_test(own):
        return TouchingTests((own,))
    name = unit.partition(".")[0]
    direct = {file.path: _nearness(root, file, path, name, language) for file in tests}
    near = sorted((far, found) for found, far in direct.items() if far is not None)
    ways = _ways(files, own, unit, language)
    # A target whose own file is named like a helper does not count as named by it.
    named = _says([file for file in files if file.path != own], ways, {found for _, found in near})
    if not near or not named:
        between = [file for file in files if _is_between(root, file, path, name, language)]
        further = [found for found in _by_way_of_another(root, between, tests, language) if direct[found] is None]
        near += [(2, found) for found in further]
    chosen = tuple(found for _, found in near)[:MOST_FILES]
    leads = _through_helpers(files, ways, language) if ways is not None else None
    helpers = tuple(file.text for file in files if _HELPER.search(file.path))
    return TouchingTests(chosen, leads, {file.path: file.text for file in tests if file.path in chosen}, helpers)


def _ways(files: Sequence[ProjectFile], own: str, unit: str, language: str) -> frozenset[str] | None:
    text = next((file.text for file in files if file.path == own), "")
    return names_leading_to(text, unit, language) if unit else None


def _says(files: Sequence[ProjectFile], ways: frozenset[str] | None, naming: Set[str]) -> bool:
    """True if one of the files `naming`, or a helper of tests among all, contains one of the names."""
    return ways is None or any(
        words(file.text) & ways for file in files if file.path in naming or _HELPER.search(file.path)
    )


def _through_helpers(files: Sequence[ProjectFile], ways: frozenset[str], language: str) -> frozenset[str]:
    for file in files:
        if _HELPER.search(file.path):
            ways = with_callers(file.text, ways, language)
    return ways


def _nearness(root: Path, file: ProjectFile, target: Path, name: str, language: str) -> int | None:
    """0: it imports the target and names it; 1: it imports it; None: neither."""
    named = bool(name) and re.search(rf"\b{re.escape(name)}\b", file.text) is not None
    if not named and not _mentions(file.text, target):
        return None
    source = Source(file.text)
    statements = [source.slice(span) for span in imports(source, language)]
    for binding in bindings(statements, language, root / file.path):
        # Another name of the same module is enough: it may call the unit.
        if any(closeness(binding, each, target) is not None for each in (name, *binding.names.values())):
            return 0 if named else 1
    return 0 if named and for_language(language).folder_is_package else None


def _is_between(root: Path, file: ProjectFile, target: Path, name: str, language: str) -> bool:
    if is_test(file.path) or root / file.path == target:
        return False
    return _nearness(root, file, target, name, language) is not None


def _by_way_of_another(
    root: Path, between: Sequence[ProjectFile], tests: Sequence[ProjectFile], language: str
) -> Iterator[str]:
    """The tests of files that import the target."""
    for test in tests:
        if any(_nearness(root, test, root / each.path, "", language) is not None for each in between):
            yield test.path


def _mentions(text: str, target: Path) -> bool:
    """True if a text contains the name by which a file is imported."""
    stem = target.parent.name if target.stem in ("__init__", "index", "mod") else target.stem
    return re.search(rf"\b{re.escape(stem)}\b", text) is not None


def project_files(root: Path, language: str, buffers: Mapping[Path, str]) -> list[ProjectFile]:
    """The source files of a language and those related to it, unsaved `buffers` first. Reads the project."""
    return list(_files(root, language, buffers))


def _files(root: Path, language: str, buffers: Mapping[Path, str]) -> Iterator[ProjectFile]:
    alike = family(language)
    for path, text in buffers.items():
        if path.is_relative_to(root) and language_of(path) in alike:
            yield ProjectFile(path.relative_to(root).as_posix(), text)
    for found in SourceWalk(root, limits=_LIMITS).files():
        path = root / found.path
        if found.language not in alike or path in buffers:
            continue
        try:
            yield ProjectFile(found.path, read_regular(path, most=LARGEST).decode("utf-8", "replace"))
        except OSError:
            continue

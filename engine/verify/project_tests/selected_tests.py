"""Chooses the tests that a change can reach: by what they import and name, from one walk through the project."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from stet_ls.engine.judges.project_tests.discovery import ProjectFile, project_files, touching_tests_among
from stet_ls.engine.judges.project_tests.required_packages import texts
from stet_ls.engine.verify.changes.change import Change, ChangedFile, is_of_tests, is_test_name

_MOST_FILES = 60


@dataclass(frozen=True, slots=True)
class SelectedTests:
    """The test files to run. `texts` are theirs, on the new side where both have one; `helpers` are texts of helpers.

    `of_files` are the test files that touch a changed file. `needs` are the texts that decide which packages are
    needed. `project` are all source files of these languages, as they are on the new side.
    """

    tests: tuple[str, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict, repr=False)
    helpers: tuple[str, ...] = field(default=(), repr=False)
    of_files: Mapping[str, frozenset[str]] = field(default_factory=dict)
    needs: tuple[str, ...] = field(default=(), repr=False)
    project: Sequence[ProjectFile] = field(default=(), repr=False)


def selected_tests(
    change: Change, language: str, files: Sequence[ChangedFile], until: float = float("inf")
) -> SelectedTests:
    """The tests that the changed `files` of a language can reach. Files that are not looked at until then, or for which
    there are too many tests already, are missing in `of_files`. Reads the project: not for an event loop.
    """
    buffers = {change.root / path: data.decode("utf-8", "replace") for path, data in change.new.items()}
    project = project_files(change.root, language, buffers)
    known = {each.path: each.text for each in project}
    found: dict[str, None] = {}
    read: dict[str, str] = {}
    helpers: dict[str, None] = {}
    of_files: dict[str, frozenset[str]] = {}
    for each in files:
        if is_of_tests(each.path) and (is_test_name(each.path) or is_test_name(each.was)):
            if len(found) >= _MOST_FILES:
                break
            found |= dict.fromkeys((each.path, each.was))
            read |= {each.was: each.text(each.before) or "", each.path: each.text(each.after) or ""}
    for each in files:
        if is_of_tests(each.path) or len(found) >= _MOST_FILES or time.monotonic() > until:
            continue
        reached: dict[str, None] = {}
        for name in dict.fromkeys((each.path, each.was)):  # what still uses the former name fails
            near = touching_tests_among(project, change.root, change.root / name, "", language)
            helpers |= dict.fromkeys(near.helpers)
            reached |= dict.fromkeys(near.tests)
        of_files[each.path] = frozenset(reached)
        for path in [*reached][: _MOST_FILES - len(found)]:
            found[path] = None
            read.setdefault(path, known.get(path, ""))
    needs = texts(change.root, read, buffers)
    return SelectedTests(tuple(found), read, tuple(helpers), of_files, needs, project)

"""Finds new tests that notice next to nothing: planted errors in what a change adds, which its own tests let pass.

A new test that passes shows little: 33 of 118 new tests of real commits pass on the old code, too. Whether `is not
None` says enough about a function is not read from the text but tried.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from stet_ls.engine.actions.generated_tests.languages.language_table import for_language
from stet_ls.engine.actions.generated_tests.mutants import Mutant
from stet_ls.engine.judges.project_tests.discovery import ProjectFile
from stet_ls.engine.plurals import plural
from stet_ls.engine.runners.report import CaseOutcome
from stet_ls.engine.verify.changes.change import Change, ChangedFile, is_of_tests
from stet_ls.engine.verify.changes.units import UnitChange, UnitChangeKind
from stet_ls.engine.verify.project_tests.edited_tests import edit_of, edits_of, test_units
from stet_ls.engine.verify.project_tests.mutant_runs import (
    LEAST_SECONDS,
    MutantRuns,
    named_functions,
    plain_name,
    planted_errors,
)
from stet_ls.engine.verify.project_tests.runs_of_tests import SuiteRuns, TestRuns

_MOST_SUBJECTS, _MOST_MUTANTS, _LEAST_MUTANTS = 4, 8, 4
_SHARE = 1 / 3
"""Of the planted errors, tests of honest changes notice five in six (median of 214 changes)."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class _Subject:
    """A function that new tests name. `unit` is the change that edits or adds it, if one does."""

    path: str
    text: str
    name: str
    unit: UnitChange | None = None


@dataclass(frozen=True, slots=True)
class WeakTests:
    """New tests that notice few of the errors planted into a function. `are_calls`: they are no units but calls in the
    module's code.
    """

    subject: _Subject
    tests: frozenset[tuple[str, str]]
    noticed: int
    tried: int
    passes_with: Mutant
    are_calls: bool = False

    def concerns(self, unit: UnitChange) -> bool:
        """Whether a unit is one of the tests, or the new code that only they test."""
        if unit is self.subject.unit:
            return unit.change is UnitChangeKind.ADDED
        name = unit.name.replace(".", "::")
        return any(path == unit.path and (test == name or (not name and self.are_calls)) for path, test in self.tests)

    def __str__(self) -> str:
        errors = f"{self.noticed} of {plural(self.tried, 'planted error')} in `{self.subject.name}`"
        return f"new tests notice {errors}; they pass with {self.passes_with.change} in line {self.passes_with.line}"


async def weak_new_tests(
    change: Change,
    units: Sequence[UnitChange],
    files: Sequence[ChangedFile],
    suite: SuiteRuns,
    runs: TestRuns,
    slots: asyncio.Semaphore,
    *,
    of_tests: bool,
) -> list[WeakTests]:
    """The new tests of changed files that notice few errors in the changed functions that they name; in a change
    `of_tests`, in any that they name. Only for languages in which errors can be planted.
    """
    found: list[WeakTests] = []
    changed = [] if of_tests else _changed(units)
    for file in files if (changed or of_tests) and not runs.problem else ():
        if not is_of_tests(file.path) or file.after is None or for_language(file.language).mutants is None:
            continue
        texts = await asyncio.to_thread(_new_tests, file, runs)
        subjects = await asyncio.to_thread(_named, file, texts, suite) if of_tests else changed
        trials = [(each, [name for name, text in texts.items() if _names(text, each)]) for each in subjects]
        for subject, tests in [each for each in trials if each[1]][:_MOST_SUBJECTS]:
            if suite.runtime.left() > LEAST_SECONDS:
                async with slots:
                    found += await _unnoticed(MutantRuns(change, file.language, suite), file, subject, tests)
    return found


def _changed(units: Sequence[UnitChange]) -> list[_Subject]:
    """The changed and added functions and methods of the product; a class counts by its methods."""
    own = [each for each in units if each.name and each.change in (UnitChangeKind.ADDED, UnitChangeKind.CHANGED)]
    owners = {each.name.rpartition(".")[0] for each in own}
    fitting = [each for each in own if each.name not in owners and not is_of_tests(each.path)]
    return [_Subject(each.path, each.file.text(each.file.after) or "", each.name, each) for each in fitting]


def _named(file: ChangedFile, tests: Mapping[str, str], suite: SuiteRuns) -> list[_Subject]:
    """The functions of the product that new tests name. Parses."""
    words = {word for text in tests.values() for word in _WORD.findall(text)}
    around = {*_WORD.findall(file.text(file.after) or "")}
    found = named_functions(suite.selected.project, file.language, words, around) if words else ()
    return [_Subject(each.path, each.text, name) for each, name in found]


def _new_tests(file: ChangedFile, runs: TestRuns) -> dict[str, str]:
    """The texts of the passing tests that a file adds, by their names. Parses."""
    edits = edits_of([file], file.language)
    units = test_units(file.text(file.after) or "", file.language)
    passing = (each for each, how in runs.new_on_new.items() if how == CaseOutcome.PASSED)
    near = (each for each in passing if each.startswith(f"{file.path}::") and edit_of(each, edits) == "added")
    names = dict.fromkeys(plain_name(each.partition("::")[2]) for each in near)
    return {each: text for each in names if (text := units.get(each.replace("::", ".")))}


def _names(test: str, subject: _Subject) -> bool:
    return re.search(rf"\b{re.escape(subject.name.rpartition('.')[2])}\b", test) is not None


async def _unnoticed(
    trial: MutantRuns, file: ChangedFile, subject: _Subject, tests: Sequence[str]
) -> Iterable[WeakTests]:  # fmt: skip
    own = ProjectFile(subject.path, subject.text)
    mutants = await asyncio.to_thread(planted_errors, own, file.language, subject.name, _MOST_MUTANTS)
    if not mutants:
        return ()
    kills, tried = await trial.kills(file.path, subject.path, subject.text, tests, mutants, {})
    noticed = frozenset().union(*kills.values())
    missed = [each for number, each in enumerate(mutants[:tried]) if number not in noticed]
    # Of a small function's few errors, one that is noticed is enough.
    most = _SHARE * tried if len(mutants) >= _LEAST_MUTANTS else 0
    if not kills or tried < min(len(mutants), _LEAST_MUTANTS) or len(noticed) > most:
        return ()
    are_calls = bool(for_language(file.language).named_tests(file.text(file.after) or "", file.language))
    names = frozenset((file.path, each) for each in tests)
    return [WeakTests(subject, names, len(noticed), tried, missed[0], are_calls)]

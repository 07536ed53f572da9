"""Finds edited tests that notice less: planted errors which the old tests fail on, and which the new ones let pass.

Both versions of the tests run on mutants of what they test, in the new tree. Whether an assertion was weakened is not
read from its text: `is not None` in place of `== 3`, a wider tolerance and a deleted line all show by the same means.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from stet_ls.engine.actions.generated_tests.languages.language_table import for_language
from stet_ls.engine.actions.generated_tests.mutants import Mutant
from stet_ls.engine.api.evidence import Check, Ruling
from stet_ls.engine.judges.project_tests.discovery import ProjectFile
from stet_ls.engine.plurals import plural
from stet_ls.engine.runners.report import CaseOutcome
from stet_ls.engine.verify.changes.change import Change, ChangedFile, is_test_name
from stet_ls.engine.verify.project_tests.edited_tests import edit_of, edits_of, test_units
from stet_ls.engine.verify.project_tests.mutant_runs import (
    LEAST_SECONDS,
    MutantRuns,
    plain_name,
    planted_errors,
    reached_functions,
)
from stet_ls.engine.verify.project_tests.runs_of_tests import SuiteRuns, TestRuns
from stet_ls.engine.verify.report import CheckResult
from stet_ls.validators import structure
from stet_ls.validators.source import Source

_PASSED = CaseOutcome.PASSED.value
_MOST_SUBJECTS, _MOST_OF_ONE, _MOST_MUTANTS, _MOST_OTHERS = 12, 40, 80, 5
_MOST_AGAIN, _ENOUGH = 32, 8
"""Mutants that the old tests notice and the new ones are tried on, and how many of them suffice if time is short."""
_MOST_FILES = 3
"""Files of the product for which is measured what the tests execute."""
_MOST_RUNS, _MOST_RUN_SUBJECTS = 8, 4
"""Mutants in all, and functions that have them, where each mutant takes a run of its own."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class WeakenedTests:
    """Tests of a file that noticed `before` of the planted errors, of which `lost` pass all new tests now.

    If none does, the new tests are as good, and `tests` are all that noticed one. `are_calls`: they are no units but
    calls in the module's code. `is_late`: not all was tried for lack of time. `by_others`: the tests' own texts are as
    they were, and what they use of their file changed.
    """

    tests: tuple[str, ...]
    before: int
    tried: int
    lost: tuple[tuple[str, Mutant], ...]
    are_calls: bool = False
    is_late: bool = False
    by_others: bool = False

    def concerns(self, unit: str) -> bool:
        """Whether a unit holds one of the tests that noticed these errors, or what they use."""
        if self.by_others:
            return True
        if not unit:
            return self.are_calls
        name = unit.replace(".", "::")
        return any(each == name or each.startswith(f"{name}::") for each in self.tests)

    def result(self, *, blames: bool, is_removed: bool) -> CheckResult:
        """The result for a unit with these tests; fewer noticed errors refute the change if its claim `blames` them."""
        if self.is_late and not self.lost:
            return CheckResult.late(Check.MUTANTS)
        if self.lost:
            status = Ruling.FAIL if blames else Ruling.UNKNOWN
            return CheckResult(Check.MUTANTS.value, status, str(self), refutes=blames, noted=True, opens=True)
        detail = "other tests notice the planted errors that it noticed"
        return CheckResult(Check.MUTANTS.value, Ruling.PASS, detail, proves=is_removed)

    def __str__(self) -> str:
        path, first = self.lost[0]
        noticed = f"{self.before - len(self.lost)} of {plural(self.tried, 'planted error')}, {self.before} before"
        what = f"notices {noticed}; passes with {first.change} in {path}:{first.line}"
        return f"`{self.tests[0].rpartition('::')[2]}` {what}" if self.are_calls else what


async def weakened_tests(
    change: Change, files: Sequence[ChangedFile], suite: SuiteRuns, runs: TestRuns, slots: asyncio.Semaphore
) -> Mapping[str, WeakenedTests]:
    """What the tests of changed files notice less, by the file's path, if they noticed anything before; only for
    languages in which errors can be planted.
    """
    found: dict[str, WeakenedTests] = {}
    for file in files:
        has_mutants = for_language(file.language).mutants is not None
        if not has_mutants or not is_test_name(file.path) or file.before is None or runs.problem:
            continue
        trial = _Trial(change, file, suite, runs)
        if not trial.edited:
            continue
        async with slots:
            weakened = await trial.run() if suite.runtime.left() > LEAST_SECONDS else trial.late
        if weakened.before or weakened.is_late:
            found[file.path] = weakened
    return found


class _Trial:
    """One file of tests, old and new, on mutants of what its edited tests test."""

    def __init__(self, change: Change, file: ChangedFile, suite: SuiteRuns, runs: TestRuns) -> None:
        self._change, self._file, self._suite, self._runs = change, file, suite, runs
        self._trial = MutantRuns(change, file.language, suite)
        self._old_text = file.text(file.before) or ""
        self._are_calls = bool(for_language(file.language).named_tests(self._old_text, file.language))
        edits = edits_of([file], file.language)
        passed = [name for name, how in runs.old_on_new.items() if how == runs.old_on_old.get(name) == _PASSED]
        passing = [each for each in passed if edit_of(each, edits) in ("edited", "removed")]
        self._by_others = not passing and not self._are_calls and _changes_others(file, passed)
        passing = passed if self._by_others else passing
        near = (plain_name(each.partition("::")[2]) for each in passing if each.startswith(f"{file.was}::"))
        self.edited = tuple(dict.fromkeys(near))

    @property
    def late(self) -> WeakenedTests:
        """The result if nothing is tried for lack of time."""
        return WeakenedTests(self.edited, 0, 0, (), self._are_calls, is_late=True, by_others=self._by_others)

    async def run(self) -> WeakenedTests:
        """What the new tests do not notice, and the old ones did."""
        old = {self._file.was: self._file.before or b""}
        mutants = await self._mutants(old)
        texts = {path: text for path, text, _ in mutants}
        noticed: dict[tuple[str, Mutant], set[str]] = {}
        tried = 0
        for path in texts:
            own = [mutant for at, _, mutant in mutants if at == path]
            kills, count = await self._trial.kills(self._file.was, path, texts[path], self.edited, own, old)
            tried += count
            for test, numbers in kills.items():
                for number in numbers:
                    noticed.setdefault((path, own[number]), set()).add(test)
        lost, is_late = _sample([*noticed]), False
        for tests, of_file in self._new_tests() if lost else ():
            rows = [await self._unnoticed(path, texts[path], tests, of_file, lost) for path in texts]
            lost = [each for found, _ in rows for each in found]
            is_late = is_late or not all(is_done for _, is_done in rows)
            if not lost:
                break
        names = sorted({test for each in lost or noticed for test in noticed[each]})
        return WeakenedTests(tuple(names), len(noticed), tried, tuple(lost), self._are_calls, is_late, self._by_others)

    async def _unnoticed(
        self, path: str, text: str, tests: Sequence[str], of_file: str, left: Sequence[tuple[str, Mutant]]
    ) -> tuple[list[tuple[str, Mutant]], bool]:
        """Those of the mutants of a file that tests were tried on and do not notice, and whether enough were tried."""
        own = [mutant for at, mutant in left if at == path]
        if not own:
            return [], True
        kills, tried = await self._trial.kills(of_file, path, text, tests, own, {})
        killed = frozenset().union(*kills.values())
        is_done = tried >= min(len(own), _ENOUGH)
        return [(path, each) for number, each in enumerate(own[:tried]) if number not in killed], is_done

    def _new_tests(self) -> Iterator[tuple[list[str], str]]:
        """The passing tests of the new file, then those of other files that may test the same."""
        passing = [each for each, how in self._runs.new_on_new.items() if how == _PASSED]
        files = [self._file.path, *(each for each in self._suite.selected.tests if each != self._file.path)]
        for path in files[:_MOST_OTHERS]:
            names = dict.fromkeys(
                plain_name(each.partition("::")[2]) for each in passing if each.startswith(f"{path}::")
            )
            if names:
                yield [*names], path

    async def _mutants(self, old: Mapping[str, bytes]) -> list[tuple[str, str, Mutant]]:
        """Mutants of the functions that the edited tests execute: path, text, mutant."""
        subjects = await asyncio.to_thread(lambda: [*self._subjects()])
        files = [*{file.path: file for file, _ in subjects}.values()][:_MOST_FILES]
        lines = {
            each.path: await self._trial.executed(self._file.was, each.path, each.text, self.edited, old)
            for each in files
        }
        return await asyncio.to_thread(self._planted, [row for row in subjects if row[0].path in lines], lines)

    def _planted(
        self, subjects: Sequence[tuple[ProjectFile, str]], lines: Mapping[str, Container[int] | None]
    ) -> list[tuple[str, str, Mutant]]:
        """One mutant of each function, then a second one of each, and so on. Parses."""
        splits = for_language(self._file.language).splits
        most, most_subjects = (_MOST_MUTANTS, _MOST_SUBJECTS) if splits else (_MOST_RUNS, _MOST_RUN_SUBJECTS)
        found: list[list[tuple[str, str, Mutant]]] = []
        for file, name in subjects:
            errors = planted_errors(file, self._file.language, name, _MOST_OF_ONE, lines[file.path])
            found += [[(file.path, file.text, each) for each in errors]] if errors else []
            if len(found) == most_subjects:
                break
        return [each for row in zip_longest(*found) for each in row if each is not None][:most]

    def _subjects(self) -> list[tuple[ProjectFile, str]]:
        """The functions that the edited tests name, and those that these name; the changed ones first. Parses."""
        old = test_units(self._old_text, self._file.language)
        # A name that is computed may be that of any test.
        unknown = self._old_text if self._are_calls else ""
        texts = [old.get(each.replace("::", "."), unknown) for each in self.edited]
        words = {word for text in texts for word in _WORD.findall(text)}
        around = {*_WORD.findall(self._old_text)}
        changed = {each.path for each in self._change.files}
        known = reached_functions(self._suite.selected.project, self._file.language, words, around)
        return sorted(known, key=lambda row: row[0].path not in changed)


def _sample(noticed: list[tuple[str, Mutant]]) -> list[tuple[str, Mutant]]:
    """The first mutants, which change results, and some of all others: new tests may be slower than the old ones."""
    first, others = noticed[: _MOST_AGAIN // 2], noticed[_MOST_AGAIN // 2 :]
    step = -(-len(others) // (_MOST_AGAIN // 2)) or 1
    return [*first, *others[::step]]


def _changes_others(file: ChangedFile, tests: Collection[str]) -> bool:
    """Whether a file of tests changes what its tests use: helpers, fixtures, values; new ones and imports concern no
    former test. Parses.
    """
    names = {plain_name(each.partition("::")[2]).replace("::", ".") for each in tests}
    old, new = (file.text(data) or "" for data in (file.before, file.after))
    before, after = (test_units(text, file.language) for text in (old, new))
    helpers = (name for name in before if not any(each == name or each.startswith(f"{name}.") for each in names))
    return any(before[each] != after.get(each) for each in helpers) or _around(old, file.language) != _around(
        new, file.language
    )


def _around(text: str, language: str) -> list[str]:
    """The lines outside of units and imports that hold code."""
    source = Source(text)
    spans = [*structure.imports(source, language), *(each.span for each in structure.units(source, language))]
    inside = {line for each in spans for line in range(source.line_of(each.start), source.line_of(each.end) + 1)}
    lines = (line.strip() for number, line in enumerate(text.splitlines()) if number not in inside)
    return [line for line in lines if line and not line.startswith("#")]

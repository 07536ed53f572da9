"""Runs tests of a change on planted errors in what they test, in the new tree."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from stet_ls.engine.actions.generated_tests.languages.language_table import for_language
from stet_ls.engine.actions.generated_tests.mutant_trial import lines_of, try_mutants, whole_statements
from stet_ls.engine.actions.generated_tests.mutants import Mutant
from stet_ls.engine.actions.generated_tests.whole_trial import try_on_whole
from stet_ls.engine.judges.project_tests.discovery import ProjectFile
from stet_ls.engine.runners.plan import SuiteOwner, TestPlan
from stet_ls.engine.sandbox.spec import Overlay
from stet_ls.engine.verify.changes.change import Change, is_of_tests
from stet_ls.engine.verify.project_tests.runs_of_tests import SuiteRuns
from stet_ls.validators.languages import language_of
from stet_ls.validators.source import Source
from stet_ls.validators.structure import units

_WORD = re.compile(r"\w+")
LEAST_SECONDS = 6.0
"""With less time left, nothing is tried."""


@dataclass(frozen=True, slots=True)
class MutantRuns:
    """Runs for the tests of one language."""

    change: Change
    language: str
    suite: SuiteRuns

    async def kills(
        self,
        tests_file: str,
        path: str,
        text: str,
        tests: Sequence[str],
        mutants: Sequence[Mutant],
        over: Mapping[str, bytes],
    ) -> tuple[Mapping[str, frozenset[int]], int]:
        """The numbers of the mutants of the file `path` that each test notices, and how many were tried. `over` are
        files that differ from the new tree.
        """
        runtime, plan = self.suite.runtime, self._plan(tests_file, path, text, over)
        if for_language(self.language).splits:
            done = await try_mutants(runtime, plan, path, tests, mutants, frozenset())
            return done.kills, done.tried
        return await self._kills_on_whole(replace(plan, until=runtime.until), path, text, tests, mutants)

    async def executed(
        self, tests_file: str, path: str, text: str, tests: Sequence[str], over: Mapping[str, bytes]
    ) -> Container[int] | None:
        """The lines of statements in the file `path`, from 1, that any of the tests executes; None if it is unknown,
        and all of them where no lines are measured. An error planted elsewhere shows nothing about these tests.
        """
        if not for_language(self.language).splits:
            return range(1, len(text) + 2)
        plan, wanted = self._plan(tests_file, path, text, over), lines_of(text, "")
        done = await try_mutants(self.suite.runtime, plan, path, tests, (), wanted)
        lines = frozenset().union(*done.lines.values())
        return await asyncio.to_thread(whole_statements, text, lines) if lines else None

    def _plan(self, tests_file: str, path: str, text: str, over: Mapping[str, bytes]) -> TestPlan:
        files = {**self.change.new, path: text.encode("utf-8", "surrogatepass"), **over}
        own = over.get(tests_file) or self.suite.selected.texts.get(tests_file, "").encode("utf-8", "surrogatepass")
        return TestPlan(
            self.language, tests=(tests_file,), suite=SuiteOwner.PROJECT,
            environment=self.suite.runtime.environment(self.language),
            overlay=Overlay(self.change.root, files), files={tests_file: own},
        )  # fmt: skip

    async def _kills_on_whole(
        self, plan: TestPlan, path: str, text: str, tests: Sequence[str], mutants: Sequence[Mutant]
    ) -> tuple[Mapping[str, frozenset[int]], int]:
        """The same with one run for each mutant. A test that fails without any notices nothing."""
        done = await try_on_whole(self.suite.runtime, plan, path, tests, [Mutant(text, "", 0), *mutants])
        kills = {test: frozenset(each - 1 for each in own) for test, own in done.kills.items() if 0 not in own}
        return (kills, done.tried - 1) if done.tried and kills else ({}, 0)


def planted_errors(
    file: ProjectFile, language: str, unit: str, most: int, lines: Container[int] | None = None
) -> list[Mutant]:
    """Mutants of a function of the product, in some of the file's lines if any are named; none in languages for which
    there are none. Parses.
    """
    own = language_of(file.path) or language
    make = for_language(own).mutants
    return make(file.text, own, unit, most, lines) if make is not None else []


def named_functions(
    project: Sequence[ProjectFile], language: str, words: Collection[str], around: Collection[str]
) -> Iterator[tuple[ProjectFile, str]]:
    """The functions of the product whose names are among `words`, in files that a file of tests with the words
    `around` names. Parses.
    """
    for file in project:
        stem = file.path.rpartition("/")[2].partition(".")[0]
        if is_of_tests(file.path) or not ({stem, *file.path.split("/")[:-1]} & {*around}):
            continue
        for unit in units(Source(file.text), language):
            owner, _, name = unit.qualified.rpartition(".")
            if unit.kind != "class" and name in words and (not owner or owner.partition(".")[0] in around):
                yield file, unit.qualified


def reached_functions(
    project: Sequence[ProjectFile], language: str, words: Collection[str], around: Collection[str]
) -> Iterator[tuple[ProjectFile, str]]:
    """The same functions, then those that these name in their files, and so on: a function that only hands its
    arguments on has next to no errors of its own. Parses.
    """
    known: dict[tuple[str, str], None] = {}
    found = [*named_functions(project, language, words, around)]
    while found:
        texts = []
        for file, unit in found:
            if (file.path, unit) not in known:
                known[file.path, unit] = None
                yield file, unit
                source = Source(file.text)
                texts += [source.slice(each.span) for each in units(source, language) if each.qualified == unit]
        files = {file.path: file for file, _ in found}
        used = {word for text in texts for word in _WORD.findall(text)}
        around = {*around, *used, *(PurePath(path).stem for path in files)}
        found = [row for row in named_functions([*files.values()], language, used, around)
                 if (row[0].path, row[1]) not in known]  # fmt: skip


def plain_name(test: str) -> str:
    """A test's name without the case of its parameters."""
    return test.partition("[")[0]

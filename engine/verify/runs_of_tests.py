"""Runs the project's tests on both trees: the old and the new tests, each on the old and the new code.

Patterns (a skip, a tolerance, a mock) blame honest changes; what the old test says about the new code does not.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath

from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.judges.project_tests.discovery import touching
from stet_ls.engine.judges.project_tests.report_text import line
from stet_ls.engine.runners.language_table import for_language
from stet_ls.engine.runners.plan import SuiteOwner, TestPlan
from stet_ls.engine.runners.report import CaseOutcome, TestReport
from stet_ls.engine.runners.run_tests import run_tests
from stet_ls.engine.sandbox.spec import Overlay
from stet_ls.engine.verify.change import Change, ChangedFile
from stet_ls.validators import structure
from stet_ls.validators.languages import family
from stet_ls.validators.source import Source
from stet_ls.validators.test_files import is_test_file

_LEAST_SECONDS = 2.0
_MOST_FILES = 60
_SETUP = frozenset({"conftest.py", "pytest.ini", "tox.ini", "setup.cfg", "pyproject.toml"})
"""Files that decide how tests run: the old tests keep the old ones, if they lie beside the tests."""
_ASSERTS = re.compile(
    r"\bassert(?!\s+(?:True|1)\b)|\bexpect\b|\braises\b|\bwarns\b|\bfail\b|\bshould\b|\bt\.(?:Error|Fatal)"
)
"""What makes a test fail, in the languages whose tests run."""
Outcomes = Mapping[str, str]


def is_of_tests(path: str) -> bool:
    """Whether a file belongs to the tests."""
    return is_test_file(path) or PurePath(path).name == "conftest.py"


@dataclass(frozen=True, slots=True)
class TestRuns:
    """The outcomes of the tests of one language on both trees, by their ids.

    `details` says why a test failed on the new code. `problem` says why there are no outcomes, `left_out` what was not
    run. `flaky` tests had several outcomes. `files` are the test files.
    """

    __test__ = False

    language: str
    old_on_old: Outcomes = field(default_factory=dict)
    old_on_new: Outcomes = field(default_factory=dict)
    new_on_old: Outcomes = field(default_factory=dict)
    new_on_new: Outcomes = field(default_factory=dict)
    details: Mapping[str, str] = field(default_factory=dict)
    flaky: frozenset[str] = frozenset()
    problem: str = ""
    left_out: str = ""
    refused: bool = False
    files: tuple[str, ...] = ()


async def run_both(change: Change, language: str, files: Sequence[ChangedFile], runtime: Runtime) -> TestRuns:
    """Runs the tests that the changed `files` of a language can reach."""
    chosen = await asyncio.to_thread(_chosen, change, language, files)
    if not chosen:
        return TestRuns(language, problem="no project test uses what changed")
    if runtime.lacks_interpreter(language):
        return TestRuns(language, problem=runtime.why_no_python or "no interpreter was found", files=chosen)
    if runtime.left() < _LEAST_SECONDS:
        return TestRuns(language, left_out="the tests were not run: no time left", files=chosen)
    texts = [each.text(data) or "" for each in files for data in (each.before, each.after)]
    runs = _Runs(change, language, await runtime.fit(*texts), files)
    return await runs.all(chosen)


def _chosen(change: Change, language: str, files: Sequence[ChangedFile]) -> tuple[str, ...]:
    buffers = {change.root / path: data.decode("utf-8", "replace") for path, data in change.new.items()}
    found: dict[str, None] = {}
    for each in files:
        if is_of_tests(each.path) and (is_test_name(each.path) or is_test_name(each.was)):
            found |= dict.fromkeys((each.path, each.was))
    for each in files:
        if not is_of_tests(each.path):
            near = touching(change.root, change.root / each.path, "", language, buffers).tests
            found |= dict.fromkeys(near[: max(0, _MOST_FILES - len(found))])
    return tuple(found)


def is_test_name(path: str) -> bool:
    """Whether a file is named like one that holds tests: helpers of tests are not."""
    return is_test_file(PurePath(path).name)


class _Runs:
    def __init__(self, change: Change, language: str, runtime: Runtime, files: Sequence[ChangedFile]) -> None:
        self._change, self._language, self._runtime = change, language, runtime
        self._changed = [each for each in files if is_of_tests(each.path)]

    async def all(self, chosen: tuple[str, ...]) -> TestRuns:
        """The four runs; the two in the middle only for test files that changed."""
        old_tests = {each.was: each.before or b"" for each in self._changed}
        new_tests = {each.path: each.after or b"" for each in self._changed}
        old_only = dict.fromkeys(new_tests.keys() - old_tests.keys(), b"") | old_tests
        new_only = dict.fromkeys(old_tests.keys() - new_tests.keys(), b"") | new_tests
        old, new = dict(self._change.old), dict(self._change.new)
        added = {each.path for each in self._changed if each.before is None or each.was != each.path}
        removed = {each.was for each in self._changed if each.after is None or each.was != each.path}
        first = await self._run(old, [each for each in chosen if each not in added])
        last = await self._run(new, [each for each in chosen if each not in removed])
        if problem := _problem(first, last, self._runtime):
            refused = any(each is not None and each.outcome == "refused" for each in (first, last))
            return TestRuns(self._language, problem=problem, refused=refused, files=chosen)
        crossed = [each for each in chosen if each in old_only]
        before = [each for each in crossed if each not in added]
        middle = await self._run({**new, **old_only}, before) if before else None
        after = [each for each in crossed if each not in removed]
        other = await self._run({**old, **new_only}, after) if after else None
        runs = TestRuns(
            self._language, _outcomes(first), _outcomes(middle), _outcomes(other), _outcomes(last),
            {**_details(middle), **_details(last)}, files=chosen,
        )  # fmt: skip
        return await self._without_flaky(runs, old, new)

    async def _without_flaky(self, runs: TestRuns, old: dict[str, bytes], new: dict[str, bytes]) -> TestRuns:
        """Runs tests that passed and now fail again, thrice in all, before anybody is blamed."""
        lost = sorted(each for each, how in runs.old_on_old.items()
                      if how == CaseOutcome.PASSED and runs.new_on_new.get(each) in _FAILS)  # fmt: skip
        if not lost:
            return runs
        paths = sorted({each.partition("::")[0] for each in lost} & {*runs.files}) or list(runs.files)
        flaky: set[str] = set()
        for over, seed in ((new, 1), (new, 2), (old, 1)):
            again = await self._run(over, paths, lost, seed)
            if again is None or again.inconclusive:
                return replace(runs, flaky=frozenset(lost), left_out="failing tests were not run again: no time left")
            passed = {each for each, how in _outcomes(again).items() if how == CaseOutcome.PASSED}
            flaky |= {*lost} & passed if over is new else {*lost} - passed
        return replace(runs, flaky=frozenset(flaky))

    async def _run(
        self, over: Mapping[str, bytes], tests: Sequence[str], select: Sequence[str] = (), seed: int = 0
    ) -> TestReport | None:
        if self._runtime.left() < _LEAST_SECONDS or not tests:
            return None
        plan = TestPlan(
            self._language, tests=tuple(tests), overlay=Overlay(self._change.root, over), suite=SuiteOwner.PROJECT,
            select=tuple(select), environment=self._runtime.environment(self._language), seed=seed,
            until=self._runtime.until, limits=for_language(self._language).limits,
        )  # fmt: skip
        return await run_tests(self._runtime.sandbox, plan)


_FAILS = frozenset({CaseOutcome.FAILED.value, CaseOutcome.ERROR.value, CaseOutcome.NOT_RUN.value, ""})


def _problem(first: TestReport | None, last: TestReport | None, runtime: Runtime) -> str:
    """Why the runs say nothing; "" if they do."""
    if last is None:
        return "no time left to run the tests"
    if last.inconclusive and (first is None or first.inconclusive or last.starved):
        return f"cannot run the project's tests: {runtime.excuse('pytest') or last.why_not}"
    return ""


def _outcomes(report: TestReport | None) -> dict[str, str]:
    if report is None:
        return {}
    broken = {each.path: CaseOutcome.ERROR.value for each in report.collection}
    return broken | {each.id: each.outcome.value for each in report.cases}


def _details(report: TestReport | None) -> dict[str, str]:
    if report is None:
        return {}
    broken = {each.path: line(each.failure) for each in report.collection}
    return broken | {each.id: line(each.failure) for each in report.cases if each.failure is not None}


def edits_of(files: Collection[ChangedFile], language: str) -> Mapping[str, str]:
    """How the tests of changed files were edited: "edited", "added" or "removed", by path and by "path::name"."""
    found: dict[str, str] = {}
    for each in files:
        if not is_of_tests(each.path) or each.language not in family(language):
            continue
        old, new = (_texts(each.text(data) or "", each.language) for data in (each.before, each.after))
        for path in {each.path, each.was}:
            found[path] = "edited"
            for name in old.keys() | new.keys():
                if old.get(name) != new.get(name):
                    how = "added" if name not in old else "removed" if name not in new else "edited"
                    found[f"{path}::{name}"] = how
                else:
                    found[f"{path}::{name}"] = "unchanged"
    return found


def asserts_nothing(name: str, files: Collection[ChangedFile]) -> bool:
    """Whether tests of a change call a unit that it adds, but none of these tests asserts anything.

    Such a test passes whatever the unit returns.
    """
    called = re.compile(rf"\b{re.escape(name.rpartition('.')[2])}\b")
    calling = [
        text
        for each in files
        if is_of_tests(each.path)
        for text in _texts(each.text(each.after) or "", each.language).values()
        if called.search(text)
    ]
    return bool(calling) and not any(_ASSERTS.search(text) for text in calling)


def _texts(text: str, language: str) -> dict[str, str]:
    source = Source(text)
    return {unit.qualified: source.slice(unit.span) for unit in structure.units(source, language)}


def edit_of(identifier: str, edits: Mapping[str, str]) -> str:
    """How one test was edited, by its id."""
    path, _, name = identifier.partition("::")
    qualified = name.partition("[")[0].replace("::", ".")
    return edits.get(f"{path}::{qualified}", edits.get(path, "unchanged"))

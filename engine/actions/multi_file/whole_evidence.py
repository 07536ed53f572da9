"""Judges a change of several files as a whole: each text by itself, and the project's tests before and after."""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from stet_ls.engine.api.evidence import WORST_FIRST, Check, Evidence, Ruling
from stet_ls.engine.execution.language_table import for_language
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.job.job import Job
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.project_tests import required_packages
from stet_ls.engine.judges.project_tests.discovery import project_files, touching_tests_among
from stet_ls.engine.judges.table import judge_of
from stet_ls.engine.plurals import plural, verb
from stet_ls.engine.runners.plan import SuiteOwner, TestPlan
from stet_ls.engine.runners.report import TestReport
from stet_ls.engine.runners.run_tests import run_tests
from stet_ls.engine.sandbox.spec import Overlay
from stet_ls.validators.languages import language_of
from stet_ls.validators.source import Source
from stet_ls.validators.test_files import is_test_file

_JUDGED = (Check.SYNTAX, Check.NAMES)
"""What is judged of each file."""
_NAMED = 3


@dataclass(frozen=True, slots=True)
class WholeChange:
    """The texts of the changed files before and after, by path below `root`; None where the file does not exist.

    `by_rule` if no model wrote it: then tests that it changes count like others.
    """

    root: Path
    language: str
    before: Mapping[str, str | None]
    after: Mapping[str, str | None]
    by_rule: bool = False
    unsaved: Mapping[Path, str] = field(default_factory=dict)


async def whole_evidence(job: Job, change: WholeChange) -> tuple[Evidence, ...]:
    """One piece of evidence for each check, over all files."""
    found: list[Evidence] = []
    for check in _JUDGED:
        items = [(path, await judge_of(check).judge(case)) for path, case in _cases(job, change)]
        if items:
            found.append(_worst(items))
    if any(item.verdict is Ruling.FAIL for item in found):
        return tuple(found)
    return (*found, await tests_of_whole(job, change))


def _cases(job: Job, change: WholeChange) -> Iterator[tuple[str, Case]]:
    for path, after in change.after.items():
        if after is not None and (language := language_of(path)) == change.language:
            before = Source(change.before.get(path) or "")
            yield path, Case(job.request.action, language, change.root / path, before, Source(after), tools=job.tools)


def _worst(items: list[tuple[str, Evidence]]) -> Evidence:
    path, worst = min(items, key=lambda each: WORST_FIRST.index(each[1].verdict))
    if worst.verdict is Ruling.PASS or len(items) == 1:
        return worst
    return Evidence(worst.check, worst.verdict, f"{path}: {worst.detail}", worst.trusted, count=worst.count)


async def tests_of_whole(job: Job, change: WholeChange) -> Evidence:
    """The project's tests that use a changed file, before and after the whole change, in the overlay."""
    with job.stage("judge", "the project's tests before and after"):
        tests, texts = await asyncio.to_thread(_tests, change)
        if not tests:
            return _evidence(Ruling.SKIPPED, "no project test uses the changed files")
        wanted = await asyncio.to_thread(required_packages.texts, change.root, texts, change.unsaved)
        runtime = await job.runtime(*wanted)
        if runtime is None:
            return _evidence(Ruling.SKIPPED, "not run: project tests need the budget `standard` or larger")
        if runtime.lacks_interpreter(change.language):
            return _evidence(Ruling.UNKNOWN, runtime.why_no_python or "no interpreter was found")
        old, new = _overlays(runtime, change)
        before = await run_tests(runtime.sandbox, _plan(runtime, change, tests, old))
        traced = tuple(path for path, text in change.after.items() if text is not None and not is_test_file(path))
        after = await run_tests(runtime.sandbox, _plan(runtime, change, tests, new, traced))
    return _compared(change, before, after)


def _tests(change: WholeChange) -> tuple[tuple[str, ...], Mapping[str, str]]:
    """The test files that exist on both sides and use a changed file, and their texts."""
    files = project_files(change.root, change.language, change.unsaved)
    tests: dict[str, None] = {}
    texts: dict[str, str] = {}
    for path in change.before:
        if change.before[path] is not None and language_of(path) == change.language:
            found = touching_tests_among(files, change.root, change.root / path, "", change.language)
            tests.update(dict.fromkeys(found.tests))
            texts.update(found.texts)
    gone = {path for path, text in change.after.items() if text is None}
    return tuple(name for name in tests if name not in gone), texts


def _overlays(runtime: Runtime, change: WholeChange) -> tuple[Overlay, Overlay]:
    """The workspace before and after. A layer cannot remove files: what is gone is empty."""
    unsaved = runtime.unsaved(change.root, Path())
    before = {path: (text or "").encode("utf-8", "surrogatepass") for path, text in change.before.items()}
    after = {path: (text or "").encode("utf-8", "surrogatepass") for path, text in change.after.items()}
    known = {path: data for path, data in before.items() if change.before[path] is not None}
    return Overlay(change.root, {**unsaved, **known}), Overlay(change.root, {**unsaved, **after})


def _plan(
    runtime: Runtime, change: WholeChange, tests: tuple[str, ...], overlay: Overlay, traced: tuple[str, ...] = ()
) -> TestPlan:
    language = change.language
    return TestPlan(
        language,
        tests=tests,
        overlay=overlay,
        suite=SuiteOwner.PROJECT,
        environment=runtime.environment(language),
        until=runtime.until,
        traced=traced if for_language(language).traces_lines else (),
    )


def _compared(change: WholeChange, before: TestReport, after: TestReport) -> Evidence:
    for report in (before, after):
        if report.inconclusive or report.starved:
            return _evidence(Ruling.UNKNOWN, f"cannot run the project's tests: {report.why_not}")
    was, now = before.passed, after.passed
    if lost := sorted(was - now):
        more = f" and {len(lost) - _NAMED} more" if len(lost) > _NAMED else ""
        names = ", ".join(each.rpartition("::")[2] for each in lost[:_NAMED])
        return _evidence(Ruling.FAIL, f"{names}{more} failed after the whole change (passed before)", len(lost))
    own = now if change.by_rule else {each for each in now if each.partition("::")[0] not in change.after}
    if not own:
        return _evidence(Ruling.UNKNOWN, "no test passed before or after the whole change")
    count = f"{plural(len(own), 'test')} {verb('pass', len(own))} before and after the whole change"
    if not _executed(change, after):
        return _evidence(Ruling.UNKNOWN, f"{count}, but none executes a changed line")
    return _evidence(Ruling.PASS, count, len(own))


def _executed(change: WholeChange, report: TestReport) -> bool:
    """True if a changed line ran, or the language cannot tell."""
    if not for_language(change.language).traces_lines:
        return True
    for path, text in change.after.items():
        lines = report.traced.get(path)
        ran = frozenset().union(*lines.ran.values()) | lines.loaded if lines is not None else frozenset()
        if text is not None and ran & _changed_lines(change.before.get(path) or "", text):
            return True
    return False


def _changed_lines(before: str, after: str) -> frozenset[int]:
    """The numbers of the lines, from 1, that are new or changed."""
    matcher = difflib.SequenceMatcher(None, before.splitlines(), after.splitlines(), autojunk=False)
    return frozenset(
        line
        for kind, _, _, start, end in matcher.get_opcodes()
        if kind != "equal"
        for line in range(start + 1, end + 1)
    )


def _evidence(verdict: Ruling, detail: str, count: int = 0) -> Evidence:
    return Evidence(Check.TESTS, verdict, detail, trusted=verdict in (Ruling.PASS, Ruling.FAIL), count=count)

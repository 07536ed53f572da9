"""Finds the tests that ran what an edit changed: a passing test that does not execute the change proves nothing.

In Python, the lines that each test runs are traced. For code that lines do not show, such as code run by another
process, and in other languages, the tests run again with an error in the changed code: those that fail now ran it. If
neither is possible, the names in the tests decide.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, replace

from stet_ls.engine.api.evidence import Check, Evidence, Ruling
from stet_ls.engine.execution.language_table import for_language
from stet_ls.engine.execution.python import changed_lines, changed_part
from stet_ls.engine.execution.python.changed_part import ChangedPart
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.project_tests.planted_errors import PlantedError, plant_errors, with_errors
from stet_ls.engine.judges.project_tests.report_text import not_executed_text, passing_text
from stet_ls.engine.plurals import plural
from stet_ls.engine.runners.report import CaseOutcome, TestReport, TracedLines
from stet_ls.engine.runners.report import CaseResult as TestCase
from stet_ls.engine.runners.report_channel import new_nonce
from stet_ls.validators.source import Source

_NOTHING = "the edit changes no executable code"
_UNSEEN = "unknown which lines ran"
_STOPPED = (CaseOutcome.FAILED, CaseOutcome.ERROR)
_ROUNDS = 3
"""Runs with errors in changed functions: if one test reaches several, it meets only the first."""

Names = Callable[[Collection[str], frozenset[str]], frozenset[str]]
"""The tests among some that use one of some names, directly or through what they use. Parses."""
Rerun = Callable[[str], Awaitable[TestReport | None]]
"""Runs the tests on another text; None if there is no time for that."""


@dataclass(frozen=True, slots=True)
class ExecutedChange:
    """`tests` ran some of the change. `missed` are the parts of it that none of them ran, as text.

    `why` says why nothing was run. `reserve` is the caveat if something was: what did not run, or how little is known.
    """

    tests: frozenset[str]
    missed: tuple[str, ...] = ()
    why: str = ""
    reserve: str = ""


@dataclass(frozen=True, slots=True)
class PassingTests:
    """The tests that pass with a change; those among them that failed without it; how many fail as before."""

    passing: frozenset[str]
    fixed: frozenset[str] = frozenset()
    failed: int = 0
    caveat: str = ""


async def executed_change(
    case: Case, lines: TracedLines | None, good: frozenset[str], fixed: frozenset[str], names: Names, rerun: Rerun
) -> ExecutedChange:
    """Which of the `good` tests ran the change, whose `lines` were traced if not None; `fixed` are those among them
    that failed without it.
    """
    if not for_language(case.language).traces_lines:
        return await _by_each_error(case, good, fixed, names, rerun)
    found = await asyncio.to_thread(changed_lines.parts, case.before.text, case.after.text, case.unit)
    if not found:
        return ExecutedChange(fixed, why="" if fixed else _NOTHING)
    came = [await asyncio.to_thread(_by_lines, part, lines or TracedLines(), good, names) for part in found]
    # A test that starts another process runs the code there, where lines are not traced.
    elsewhere = frozenset(test for test in fixed if lines is None or not lines.ran.get(test))
    rounds = 0
    for number, part in enumerate(found):
        if came[number] or not (elsewhere or part.is_hidden or lines is None):
            continue
        if elsewhere and len(found) == 1 and not part.statements and not part.lazy:
            came[number] = elsewhere
        elif rounds < _ROUNDS:
            rounds += 1
            came[number] = await _by_error(case, part, good, fixed, rerun)
    unrun = [part for part, own in zip(found, came, strict=True) if not own]
    missed = tuple(f"`{part.name}`" if part.name else "what was changed" for part in unrun)
    tests: frozenset[str] = frozenset().union(*came)
    if missed and lines is None:
        return ExecutedChange(tests, missed, why=_UNSEEN)
    return ExecutedChange(
        tests, missed, reserve=_unseen(case.after, found, lines, good) if not tests & elsewhere else ""
    )


async def judge_execution(
    case: Case, tests: PassingTests, lines: TracedLines | None, names: Names, rerun: Rerun
) -> Evidence:
    """Passes if passing tests ran the change; says how many of them did."""
    came = await executed_change(case, lines, tests.passing, tests.fixed, names, rerun)
    passing, fixed = len(tests.passing), tests.fixed
    if not came.tests or came.missed:
        summary = came.why or not_executed_text(passing, came.missed)
        return _evidence(
            Ruling.UNKNOWN, f"{passing_text(passing, len(fixed), tests.failed)}, but {summary}{tests.caveat}"
        )
    summary = passing_text(len(came.tests), len(fixed & came.tests), tests.failed)
    idle = f"; {passing - len(came.tests)} more do not execute the change" if tests.passing - came.tests else ""
    reserve = f"; {came.reserve}" if came.reserve else ""
    return replace(_evidence(Ruling.PASS, f"{summary}{idle}{reserve}{tests.caveat}"), count=len(came.tests))


def _evidence(verdict: Ruling, detail: str) -> Evidence:
    return Evidence(Check.TESTS, verdict, detail, trusted=verdict is Ruling.PASS)


def _by_lines(part: ChangedPart, lines: TracedLines, good: frozenset[str], names: Names) -> frozenset[str]:
    """The tests that ran a line of a part, or name what of it ran when the files were loaded."""
    ran = lines.ran
    if part.at and lines.loaded and not part.at & lines.loaded:
        return frozenset()
    own = frozenset(test for test in good if part.lines & ran.get(test, frozenset()))
    is_loaded = bool(part.lines & ran.get("", frozenset()))
    called = part.names | ({part.name.rpartition(".")[2]} if is_loaded else frozenset())
    return own | names(good - own, called) if called else own


async def _by_error(
    case: Case, part: ChangedPart, good: frozenset[str], fixed: frozenset[str], rerun: Rerun
) -> frozenset[str]:  # fmt: skip
    """The tests that report an error planted in a part, or that need the change and fail with the error planted."""
    word = f"stet{new_nonce()}"
    text = await asyncio.to_thread(changed_part.with_error, case.after.text, part, word)
    report = await rerun(text) if text is not None else None
    if report is None or report.starved or report.collection:
        return frozenset()
    stopped = (each for each in report.cases if each.id in good and each.outcome in _STOPPED)
    return frozenset(each.id for each in stopped if each.id in fixed or _says(word, each))


def _says(word: str, case: TestCase) -> bool:
    return word in f"{case.failure.message if case.failure else ''}{case.stdout}"


def _unseen(after: Source, found: Sequence[ChangedPart], traced: TracedLines | None, good: frozenset[str]) -> str:
    """The changed lines that no test ran, the first in words."""
    if traced is None:
        return ""
    seen: frozenset[int] = frozenset().union(*(traced.ran.get(test, frozenset()) for test in ("", *good)))
    lines = sorted(
        start[0] for part in found for start in part.new if (own := part.statements[start]) and not own & seen
    )
    if not lines:
        return ""
    first = after.line_text(lines[0] - 1).strip()
    more = f" and {plural(len(lines) - 1, 'more line')}" if len(lines) > 1 else ""
    return f"no test runs line {lines[0]}{more}: `{first[:60]}`"


async def _by_each_error(
    case: Case, good: frozenset[str], fixed: frozenset[str], names: Names, rerun: Rerun
) -> ExecutedChange:  # fmt: skip
    errors = await asyncio.to_thread(plant_errors, case.before, case.after, case.language)
    if not errors:
        return ExecutedChange(fixed, why="" if fixed else _NOTHING)
    left, tests = errors, set[str]()
    for _ in range(_ROUNDS):
        word = f"stet{new_nonce()}"
        report = await rerun(with_errors(case.after, left, word).text) if all(each.text for each in left) else None
        if report is None or report.starved or report.collection or not report.cases:
            return await asyncio.to_thread(_by_names, errors, good, fixed, names)
        stopped = frozenset(each.id for each in report.cases if each.outcome in _STOPPED) & good
        # If an error ends the process, the tests after it were not reached.
        unreached = good - frozenset(each.id for each in report.cases)
        tests |= stopped | await asyncio.to_thread(names, unreached, frozenset().union(*(each.names for each in left)))
        stops = [each for each in report.cases if each.id in stopped]
        met = tuple(error for error in left if any(_says(error.mark(word), each) for each in stops))
        if stopped and not met and len(left) == 1:
            met = left  # the error was caught and reported in other words
        left = tuple(each for each in left if each not in met)
        if not left or not met:
            break
    return ExecutedChange(frozenset(tests), tuple(dict.fromkeys(f"`{each.unit}`" for each in left)))


def _by_names(
    errors: Sequence[PlantedError], good: frozenset[str], fixed: frozenset[str], names: Names
) -> ExecutedChange:
    """The verdict without coverage: tests have to name each changed part, or the change consists of one part."""
    reached = {each: names(good, each.names) | (fixed if len(errors) == 1 else frozenset()) for each in errors}
    unnamed = [each.unit for each, tests in reached.items() if not tests]
    missed = dict.fromkeys(f"`{unit}`" if unit else "what was changed" for unit in unnamed)
    tests: frozenset[str] = frozenset().union(*reached.values())
    return ExecutedChange(
        tests, tuple(missed), reserve="counted by names in the tests, since their coverage is unknown"
    )

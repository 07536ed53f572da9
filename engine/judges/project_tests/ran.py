"""Which tests ran what an edit changed: one that passes beside the change says nothing about it.

In Python the lines are told that each test runs. Elsewhere the tests run once more with an error at the start of each
changed function: those that fail now ran it. Where neither can be done, the names in the tests have to do.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass

from stet_ls.engine.judges import changed
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.changed import Part
from stet_ls.engine.judges.project_tests.wires import Wire, wired, wires_of
from stet_ls.engine.judges.project_tests.words import count
from stet_ls.engine.sandbox.runners.channel import new_nonce
from stet_ls.engine.sandbox.runners.report import CaseOutcome, TestReport
from stet_ls.validators.source import Source

_NOTHING = "the edit changes no code that runs"
_UNSEEN = "it could not be seen which lines ran"
_STOPPED = (CaseOutcome.FAILED, CaseOutcome.ERROR)
_ROUNDS = 3
"""Runs with errors in changed functions: of several in one test only the first is met."""

Names = Callable[[Collection[str], frozenset[str]], frozenset[str]]
"""The tests among some that name one of some names, themselves or by what they name there. Parses."""
Rerun = Callable[[str], Awaitable[TestReport | None]]
"""Runs the tests on another text; None where there is no time for that."""


@dataclass(frozen=True, slots=True)
class Ran:
    """`tests` ran something of the change. `missed` are the parts of it that none of them ran, in words.

    `why` says why nothing was run. `reserve` is what has to be said where something was: what did not run, or how
    little is known.
    """

    tests: frozenset[str]
    missed: tuple[str, ...] = ()
    why: str = ""
    reserve: str = ""


async def ran(case: Case, report: TestReport, good: frozenset[str], mended: frozenset[str], names: Names, rerun: Rerun
) -> Ran:  # fmt: skip
    """Which of the `good` tests ran the change; `mended` are those among them that failed without it.

    Something of the change made these pass, wherever it ran.
    """
    if case.language != "python":
        return await _by_wires(case, good, mended, names, rerun)
    found = await asyncio.to_thread(changed.parts, case.before.text, case.after.text, case.unit)
    if not found:
        return Ran(mended, why="" if mended else _NOTHING)
    if report.ran is None:
        return Ran(mended, why="" if mended else _UNSEEN)
    return await asyncio.to_thread(_by_lines, case, found, report, good, mended, names)


def _by_lines(
    case: Case, found: Sequence[Part], report: TestReport, good: frozenset[str], mended: frozenset[str], names: Names
) -> Ran:
    told = report.ran or {}
    loaded = told.get("", frozenset())
    # A test that starts another process runs the code there, where nobody counts its lines.
    elsewhere = frozenset(test for test in mended if not told.get(test))
    tests: set[str] = set(elsewhere)
    missed = []
    for part in found:
        own = {test for test in good if part.lines & told.get(test, frozenset())}
        called = part.names | ({part.name.rpartition(".")[2]} if part.lines & loaded else frozenset())
        if called:
            own |= names(good - own, frozenset(called))
        if not own | elsewhere:
            missed.append(f"`{part.name}`" if part.name else "what was changed")
        tests |= own
    seen = loaded.union(*(told.get(test, frozenset()) for test in good))
    left = sorted(start[0] for part in found for start in part.new if not part.statements[start] & seen)
    reserve = _unseen(case.after, left) if not elsewhere else ""
    return Ran(frozenset(tests), tuple(missed), reserve=reserve)


def _unseen(after: Source, lines: Sequence[int]) -> str:
    """The changed lines that no test ran, the first in words."""
    if not lines:
        return ""
    first = after.line_text(lines[0] - 1).strip()
    more = f" and {count(len(lines) - 1, 'more line')}" if len(lines) > 1 else ""
    return f"no test runs line {lines[0]}{more}: `{first[:60]}`"


async def _by_wires(
    case: Case, good: frozenset[str], mended: frozenset[str], names: Names, rerun: Rerun
) -> Ran:  # fmt: skip
    wires = await asyncio.to_thread(wires_of, case.before, case.after, case.language)
    if not wires:
        return Ran(mended, why="" if mended else _NOTHING)
    left, tests = wires, set(mended)
    for _ in range(_ROUNDS):
        word = f"stet{new_nonce()}"
        told = await rerun(wired(case.after, left, word).text) if all(each.text for each in left) else None
        if told is None or told.starved or told.collection or not told.cases:
            return await asyncio.to_thread(_by_names, wires, good, mended, names)
        stopped = frozenset(each.id for each in told.cases if each.outcome in _STOPPED) & good
        # Where an error ends the process, the tests after it were not reached.
        unreached = good - frozenset(each.id for each in told.cases)
        tests |= stopped | await asyncio.to_thread(names, unreached, frozenset().union(*(each.names for each in left)))
        met = tuple(each for each in left if _is_met(each.mark(word), told, stopped))
        if stopped and not met and len(left) == 1:
            met = left  # who took the error said something else
        left = tuple(each for each in left if each not in met)
        if not left or not met:
            break
    missed = () if mended and tests == mended else tuple(dict.fromkeys(f"`{each.unit}`" for each in left))
    return Ran(frozenset(tests), missed)


def _is_met(mark: str, told: TestReport, stopped: Collection[str]) -> bool:
    """Whether one of the tests that an error stopped tells of this one."""
    cases = (each for each in told.cases if each.id in stopped)
    return any(mark in f"{each.failure.message if each.failure else ''}{each.stdout}" for each in cases)


def _by_names(wires: Sequence[Wire], good: frozenset[str], mended: frozenset[str], names: Names) -> Ran:
    """What can be told where nothing shows what runs."""
    said = names(good, frozenset().union(*(each.names for each in wires))) | mended
    missed = (
        () if said else tuple(dict.fromkeys(f"`{each.unit}`" if each.unit else "what was changed" for each in wires))
    )
    return Ran(said, missed, reserve="counted by the names in the tests, for what they run could not be seen")

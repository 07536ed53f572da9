"""The examples in the documentation of a changed unit, on the old and the new code.

Like tests, they show a fix. One that passed and fails now contradicts a claim that nothing changes.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from stet_ls.engine.api.evidence import Check, Ruling
from stet_ls.engine.execution.harness_run import Call, CallOutcome, NotRunnable
from stet_ls.engine.execution.javascript import documented_runs
from stet_ls.engine.execution.javascript.inputs.known_calls.documented_calls import DocumentedCall
from stet_ls.engine.execution.language_table import for_language
from stet_ls.engine.execution.python.module_location import locate_module
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.judges import doctest
from stet_ls.engine.judges.case import Case
from stet_ls.engine.plurals import plural, verb
from stet_ls.engine.verify.changes.intent import ChangeIntent
from stet_ls.engine.verify.changes.units import UnitChange, UnitChangeKind
from stet_ls.engine.verify.report import CheckResult

_MOST_UNITS = 20
_EXAMPLE = re.compile(r">>> |(?://|^\s*/?\*).*=>", re.MULTILINE)
_LEAST_SECONDS = 4.0


class _Example(Protocol):
    """An example of either language."""

    @property
    def call(self) -> Call:
        """What runs."""
        ...

    def holds(self, outcome: CallOutcome | None) -> bool:
        """Whether an outcome is the expected one."""
        ...

    def failure(self, outcome: CallOutcome | None) -> str:
        """What is wrong, as a sentence."""
        ...


@dataclass(frozen=True, slots=True)
class ExampleRuns:
    """What the examples of a unit's new documentation said, as sentences: `fixed` fail on the old code and pass now,
    `broken` were there, passed and fail now, `wrong` are new and fail. `count` are all.
    """

    count: int
    fixed: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()

    def result(self, intent: ChangeIntent) -> CheckResult:
        """The result of the check."""
        check = Check.DOCTEST.value
        if self.broken or self.wrong:
            blames = bool(self.broken) and intent.is_stated and intent.keeps_behavior
            detail = f"{(self.broken or self.wrong)[0]}{' (passed before)' if self.broken else ''}"
            status = Ruling.FAIL if blames else Ruling.UNKNOWN
            return CheckResult(check, status, detail, refutes=blames, noted=True, opens=True)
        fixed = f", {len(self.fixed)} of them failed before" if self.fixed else ""
        detail = f"{plural(self.count, 'example')} {verb('pass', self.count)}{fixed}"
        return CheckResult(check, Ruling.PASS, detail, proves=bool(self.fixed))


def has_examples(text: str) -> bool:
    """Whether a text may hold examples in its documentation."""
    return _EXAMPLE.search(text) is not None


async def run_examples(cases: Mapping[UnitChange, Case]) -> Mapping[UnitChange, ExampleRuns]:
    """The examples of changed units that have some, of the first units, while there is time."""
    changed = {unit: case for unit, case in cases.items() if unit.change is UnitChangeKind.CHANGED and unit.name}
    found = {unit: await _runs(case, unit.name) for unit, case in [*changed.items()][:_MOST_UNITS]}
    return {unit: runs for unit, runs in found.items() if runs is not None}


async def _runs(case: Case, unit: str) -> ExampleRuns | None:
    """None if there are no examples, or if they cannot run."""
    before, after = case.before.text, case.after.text
    if case.runtime is None or case.runtime.left() < _LEAST_SECONDS or case.is_too_large_to_run:
        return None
    old, new = [await asyncio.to_thread(_examples, text, case.language, unit) for text in (before, after)]
    if not new:
        return None
    first, last = await _failures(case, case.runtime, before, new), await _failures(case, case.runtime, after, new)
    if first is None or last is None:
        return None
    failing = {each for each in last if each in old and each not in first}
    if failing:  # an example whose result varies contradicts nothing
        again = [await _failures(case, case.runtime, text, new) for text in (before, after, after)]
        failing -= {
            each for each in failing if each in (again[0] or ()) or any(each not in (x or ()) for x in again[1:])
        }
    return ExampleRuns(
        len(new), tuple(why for each, why in first.items() if each not in last),
        tuple(why for each, why in last.items() if each in failing),
        tuple(why for each, why in last.items() if each not in old and each not in failing),
    )  # fmt: skip


def _examples(text: str, language: str, unit: str) -> dict[str, _Example]:
    """The examples of a unit by their texts. Parses."""
    if for_language(language).documents_calls:
        return {each.text: each for each in documented_runs.examples_for(text, language, unit, "")}
    return {f"{each.source}\n{each.want}{each.error}": each for each in doctest.examples_of(text, unit)}


async def _failures(
    case: Case, runtime: Runtime, text: str, examples: Mapping[str, _Example]
) -> Mapping[str, str] | None:
    """The examples that fail in a text, each with what is wrong; None if they cannot run."""
    found: Mapping[int, CallOutcome] | NotRunnable
    rows = [*examples.values()]
    if for_language(case.language).documents_calls:
        calls = [each for each in rows if isinstance(each, DocumentedCall)]
        found = await documented_runs.outcomes(runtime, text, case.language, case.path, calls)
    else:
        place = await asyncio.to_thread(locate_module, case.path, (case.before.text, case.after.text), runtime)
        found = await doctest.outcomes(runtime, text, tuple(each.call for each in rows), place)
    if isinstance(found, NotRunnable) or any(_is_excused(each, runtime) for each in found.values()):
        return None
    return {name: each.failure(found.get(n)) for n, (name, each) in enumerate(examples.items())
            if not each.holds(found.get(n))}  # fmt: skip


def _is_excused(outcome: CallOutcome, runtime: Runtime) -> bool:
    """Whether the call could not run as it should: a package is missing, or it reached out of the sandbox."""
    return outcome.kind == "reached" or bool(runtime.excuse(outcome.lacks))

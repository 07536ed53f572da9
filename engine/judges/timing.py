"""Measures whether the new code is faster, and by how much. Both take turns on the same inputs, preferably larger ones.

An input counts by its first call: each call runs on the module as freshly loaded, with nothing cached from other
calls. A gain counts if its whole interval is above `WORTH`. A measured change without gain is refuted; one that could
have been measured and was not is unknown. If it cannot be measured here, or repeated calls show a different gain, the
result is unknown and trusted, so that the user is asked before it lands. A module that can be loaded only once cannot
be warmed up without being used: there both calls have to gain.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

from stet_ls.engine.api.evidence import Check, Evidence, Ruling
from stet_ls.engine.execution.harness_run import Call, HarnessRun, NotRunnable
from stet_ls.engine.execution.language_table import for_language
from stet_ls.engine.execution.python.harness import not_loaded, run
from stet_ls.engine.execution.python.inputs.calls import calls_for
from stet_ls.engine.execution.python.inputs.examples import test_texts
from stet_ls.engine.execution.python.inputs.scaled import scaled
from stet_ls.engine.execution.python.inputs.subject import changed_units, read_module
from stet_ls.engine.execution.python.module_location import ModuleLocation, locate_module
from stet_ls.engine.execution.runtime import RunExtent, Runtime
from stet_ls.engine.judges.case import Case
from stet_ls.engine.plurals import plural

WORTH = 1.1
"""A gain below this is not worth an edit, and hardly distinguishable from noise."""
ROUNDS, LEAST_ROUNDS = 15, 7
_LEAST_AGAIN = 3
_CLEARLY_MORE = 1.5
"""The factor by which the gain of second calls has to differ from that of first calls to count as different."""
_SAMPLES = 2000
_INPUTS = 40
_STEP = re.compile(r"\n(?=try: )")


@dataclass(frozen=True, slots=True)
class Speedup:
    """The speedup: the ratio of the shortest rounds, and the interval that holds 95 % of resampled ratios."""

    ratio: float
    low: float
    high: float
    inputs: int = 0
    again: Speedup | None = None
    """The gain of calls that are made a second time."""
    warm: bool = True
    """Whether everything outside the module was loaded before first calls."""

    def __str__(self) -> str:
        of = f" on {plural(self.inputs, 'input')}" if self.inputs else ""
        return f"{self.ratio:.2f}x ({self.low:.2f}..{self.high:.2f}){of}"

    @property
    def is_faster(self) -> bool:
        """All of the interval is worth an edit."""
        return self.low >= WORTH


async def judge(case: Case) -> Evidence:
    """Passes if it is certainly faster, fails with the measured ratio if not; else says what was not measured."""
    if why := _unmeasurable(case):
        return Evidence(Check.TIMING, Ruling.UNKNOWN, f"not measured: {why}", trusted=True)
    assert case.runtime is not None
    found = await _measured(case, case.runtime)
    if isinstance(found, NotRunnable):
        return Evidence(Check.TIMING, Ruling.UNKNOWN, f"cannot measure the gain: {found.reason}")
    return evidence_of(found)


def _unmeasurable(case: Case) -> str:
    """Why it cannot be measured here, for any code; "" if it can."""
    if not for_language(case.language).times:
        return f"speed measurement does not support {case.language} yet"
    if case.runtime is None or case.runtime.extent is RunExtent.BRIEF:
        return "the budget `quick` measures no speed"
    if case.runtime.python is None:
        return case.runtime.why_no_python or "no Python to run it with; set `sandbox.python`"
    return ""


async def _measured(case: Case, runtime: Runtime) -> Speedup | NotRunnable:
    unit = case.unit or await asyncio.to_thread(_changed, case)
    if not unit:
        return NotRunnable("the change affects no callable function or class")
    case = replace(case, unit=unit)
    place, calls = await asyncio.to_thread(prepare_timing, case, runtime)
    if not calls:
        return NotRunnable(f"no input found for `{unit}`")
    fit = await _fit(case, runtime, place, calls)
    if isinstance(fit, NotRunnable):
        return fit
    trial = HarnessRun(
        (case.before.text, case.after.text), fit, case.unit, place.path, place.name, place.roots, place.warm,
        reads=place.overlay is not None, seconds=5.0, rounds=ROUNDS,
    )  # fmt: skip
    report = await run(runtime, trial, place.overlay)
    if isinstance(report, NotRunnable):
        return report
    if len(report.rounds) < LEAST_ROUNDS:
        return NotRunnable("it runs too long to repeat often enough")
    again = speedup(report.again) if len(report.again) >= _LEAST_AGAIN else None
    return replace(speedup(report.rounds), inputs=report.inputs, again=again, warm=report.warm)


def speedup(pairs: Sequence[tuple[float, float]]) -> Speedup:
    """The gain and its bootstrap interval, by the seconds of old and new. The shortest round is the least disturbed."""
    random = Random(len(pairs))  # noqa: S311 - the same interval for the same rounds
    ratios = sorted(_ratio([random.choice(pairs) for _ in pairs]) for _ in range(_SAMPLES))
    return Speedup(_ratio(pairs), ratios[_SAMPLES // 40], ratios[-_SAMPLES // 40])


def _ratio(pairs: Sequence[tuple[float, float]]) -> float:
    return min(old for old, _ in pairs) / max(min(new for _, new in pairs), 1e-9)


def evidence_of(found: Speedup) -> Evidence:
    """The evidence from a measured gain."""
    if (again := found.again) is not None and _only_one_gains(found, again):
        when = "on repeated calls only" if again.is_faster else "on first calls only"
        both = f"faster {when}: {found}, and {again} when repeated"
        undecided = Evidence(Check.TIMING, Ruling.UNKNOWN, both, trusted=True)
    elif found.is_faster and not found.warm and again is None:
        once = f"faster on a first call, including imports: {found}; no time left for a second one"
        undecided = Evidence(Check.TIMING, Ruling.UNKNOWN, once, trusted=True)
    elif found.is_faster:
        undecided = Evidence(Check.TIMING, Ruling.PASS, f"speed {found}", trusted=True)
    elif found.high < 1:
        undecided = Evidence(Check.TIMING, Ruling.FAIL, f"slower: {found}", trusted=True)
    else:
        undecided = Evidence(Check.TIMING, Ruling.FAIL, f"no gain of {WORTH}x or more: {found}", trusted=True)
    return replace(undecided, count=found.inputs)


def _only_one_gains(first: Speedup, again: Speedup) -> bool:
    """Whether only one of them is a gain: by a wide margin, or after a first call that was not warm."""
    gained, lost = (first, again) if first.is_faster else (again, first)
    by_far = gained.low >= _CLEARLY_MORE * lost.high
    return gained.is_faster and lost.low < WORTH and (by_far or (gained is first and not first.warm))


async def _fit(
    case: Case, runtime: Runtime, place: ModuleLocation, calls: tuple[Call, ...]
) -> tuple[Call, ...] | NotRunnable:
    """The inputs that both texts answer in reasonable time, those near the end of the list first: they are larger."""
    trial = HarnessRun(
        (case.before.text, case.after.text), calls, case.unit, place.path, place.name, place.roots, place.warm,
        reads=place.overlay is not None, cpu=0.2,
    )  # fmt: skip
    report = await run(runtime, trial, place.overlay)
    if isinstance(report, NotRunnable):
        return report
    if (broken := next((text for text in report.texts if text.problem), None)) is not None:
        return not_loaded(runtime, broken)
    if len(report.texts) < 2:
        return NotRunnable("no input finished in time")
    both = [
        n for n, outcome in report.texts[0].outcomes.items() if outcome.kind == "ok" and n in report.texts[1].outcomes
    ]
    chosen = tuple(calls[n] for n in sorted(both)[-_INPUTS:])
    return chosen or NotRunnable("no input finished in time")


def _changed(case: Case) -> str:
    """The first unit that a change of several statements touches, "" if there is none."""
    before, after = read_module(case.before.text), read_module(case.after.text)
    return next(iter(changed_units(before, after)), "") if before and after else ""


def prepare_timing(case: Case, runtime: Runtime) -> tuple[ModuleLocation, tuple[Call, ...]]:
    """The place of the module, and inputs that are worth timing: the largest last."""
    place = locate_module(case.path, (case.before.text, case.after.text), runtime)
    drawn = calls_for(case.before.text, case.unit, test_texts(case.path, runtime.root_of(case.path)))
    # The calls on an object, each with arguments that the object has not seen yet.
    calls = tuple(replace(call, body="\n".join(dict.fromkeys(_STEP.split(call.body)))) for call in drawn)
    # A few written inputs, enlarged: slowness shows on large inputs.
    small = [call for call in calls if call.names and len(call.body.splitlines()) == 1][:60]
    large = [each for factor in (8, 40) for call in small if (each := scaled(call, factor))]
    return place, (*calls[:_INPUTS], *large)

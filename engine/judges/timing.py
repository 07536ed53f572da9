"""Is the new code faster, and by how much? Both take turns in one process on the same inputs, larger ones preferred."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.harness.place import Place, place_of
from stet_ls.engine.judges.harness.run import run
from stet_ls.engine.judges.harness.trial import Call, Impossible, Trial
from stet_ls.engine.judges.inputs.draw import calls_for
from stet_ls.engine.judges.inputs.examples import test_texts
from stet_ls.engine.judges.inputs.grown import grown
from stet_ls.engine.judges.runtime import Runtime
from stet_ls.engine.models import Check, Evidence, Ruling

WORTH = 1.1
"""A gain below this is not worth an edit, and hardly told from noise."""
ROUNDS, LEAST_ROUNDS = 15, 7
_SAMPLES = 2000
_INPUTS = 40


@dataclass(frozen=True, slots=True)
class Gain:
    """How many times faster: the ratio of the shortest rounds, and the interval that holds 95 % of resampled ratios."""

    ratio: float
    low: float
    high: float
    rounds: int

    def __str__(self) -> str:
        return f"{self.ratio:.2f}x ({self.low:.2f} to {self.high:.2f})"


async def judge(case: Case) -> Evidence:
    """Passes if it is faster for sure, fails if it is slower for sure; untrusted: what is measured are our inputs."""
    if case.language != "python" or case.runtime is None or not case.unit:
        return Evidence(Check.TIMING, Ruling.SKIPPED, "no speed was measured")
    place, calls = await asyncio.to_thread(_prepare, case, case.runtime)
    if not calls:
        return Evidence(Check.TIMING, Ruling.UNKNOWN, "no input to measure with was found")
    fit = await _fit(case, case.runtime, place, calls)
    if isinstance(fit, Impossible):
        return Evidence(Check.TIMING, Ruling.UNKNOWN, f"no speed was measured: {fit.reason}")
    trial = Trial(
        (case.before.text, case.after.text), fit, case.unit, place.path, place.name, place.roots, place.warm,
        reads=place.overlay is not None, seconds=4.0, rounds=ROUNDS,
    )  # fmt: skip
    report = await run(case.runtime, trial, place.overlay)
    if isinstance(report, Impossible):
        return Evidence(Check.TIMING, Ruling.UNKNOWN, f"no speed was measured: {report.reason}")
    if len(report.rounds[0]) < LEAST_ROUNDS:
        return Evidence(Check.TIMING, Ruling.UNKNOWN, "it takes too long to be measured often enough")
    return _evidence(gain(report.rounds[0], report.rounds[1]))


def gain(old: Sequence[float], new: Sequence[float]) -> Gain:
    """The gain and its bootstrap interval. The shortest round is the one that least disturbed; rounds go in pairs."""
    random = Random(len(old))  # noqa: S311 - the same interval for the same rounds
    pairs = list(zip(old, new, strict=True))
    ratios = sorted(_ratio([random.choice(pairs) for _ in pairs]) for _ in range(_SAMPLES))
    return Gain(_ratio(pairs), ratios[_SAMPLES // 40], ratios[-_SAMPLES // 40], len(pairs))


def _ratio(pairs: Sequence[tuple[float, float]]) -> float:
    return min(old for old, _ in pairs) / max(min(new for _, new in pairs), 1e-9)


def _evidence(found: Gain) -> Evidence:
    if found.low >= WORTH:
        return Evidence(Check.TIMING, Ruling.PASS, f"{found} faster", trusted=True)
    if found.high < 1 / WORTH:
        return Evidence(Check.TIMING, Ruling.FAIL, f"it is slower: {found} the speed")
    return Evidence(Check.TIMING, Ruling.UNKNOWN, f"no gain that is worth it: {found} the speed")


async def _fit(case: Case, runtime: Runtime, place: Place, calls: tuple[Call, ...]) -> tuple[Call, ...] | Impossible:
    """The inputs that both texts answer in reasonable time, those near the end of the list first: they are larger."""
    trial = Trial(
        (case.before.text, case.after.text), calls, case.unit, place.path, place.name, place.roots, place.warm,
        reads=place.overlay is not None, cpu=0.2,
    )  # fmt: skip
    report = await run(runtime, trial, place.overlay)
    if isinstance(report, Impossible):
        return report
    if len(report.texts) < 2:
        return Impossible(report.texts[0].problem or "no input was answered in time")
    both = [
        n for n, outcome in report.texts[0].outcomes.items() if outcome.kind == "ok" and n in report.texts[1].outcomes
    ]
    chosen = tuple(calls[n] for n in sorted(both)[-_INPUTS:])
    return chosen or Impossible("no input was answered in time")


def _prepare(case: Case, runtime: Runtime) -> tuple[Place, tuple[Call, ...]]:
    place = place_of(case.path, (case.before.text, case.after.text), runtime)
    calls = calls_for(case.before.text, case.unit, test_texts(case.path, runtime.root_of(case.path)))
    # The few that somebody wrote, grown: what is slow shows on large inputs.
    small = [call for call in calls if call.names and len(call.body.splitlines()) == 1][:60]
    large = [each for factor in (8, 40) for call in small if (each := grown(call, factor))]
    return place, (*calls[:_INPUTS], *large)

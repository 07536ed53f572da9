"""Further inputs where the results so far leave a need for them, and how far the results on these count.

The tables of `execution/<language>/inputs/sources.py` say which sources there are; here is the rule for each need and
each trust that they name.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from stet_ls.engine.execution.harness_run import Call, HarnessReport
from stet_ls.engine.execution.inputs.rows import DOUBLE
from stet_ls.engine.execution.inputs.sources import ComparedUnit, InputsSoFar, Need, Sources, Trust, further
from stet_ls.engine.execution.probe import Probe, unreached_probes
from stet_ls.engine.judges.differential.comparison import LEAST_VALID, Comparison, counted_coverage
from stet_ls.engine.judges.differential.growth import growth_of


class CompareRun(Protocol):
    """Compares both texts on the calls of a further run."""

    def __call__(
        self, calls: Sequence[Call], report: HarnessReport, earlier: Sequence[Call], trust: Trust
    ) -> Comparison:
        """`earlier` are calls on which both texts agree so far, `trust` is that of the calls' source."""
        ...


@dataclass(frozen=True, slots=True)
class Judging:
    """How further runs are judged.

    `parts` are the lines of both texts that count as the change, None for all. `meant` are the kinds that the names of
    parameters suggest.
    """

    compare: CompareRun
    parts: tuple[range, range] | None = None
    meant: Mapping[str, frozenset[str]] = field(default_factory=dict)


async def with_further(found: Comparison, sources: Sources, known: InputsSoFar, judging: Judging) -> Comparison:
    """The comparison with the inputs of each further source for which there is a need."""
    pair = known.pair
    used: set[str] = set()
    for source in further(sources):
        if source.unless in used or not await asyncio.to_thread(NEEDED[source.need], found, known.unit):
            continue
        used.add(source.name)
        calls = await source.make(replace(known, agreed=found.agreed, unseen=found.unseen, accidents=found.accidents))
        grown = await asyncio.to_thread(pair.grown, calls) if source.is_timed else ()
        report = await pair.run_further(calls, grown)
        if report is None:
            continue
        own = judging.compare(calls, report, found.agreed, source.trust)
        counted = counted_coverage(own, report)
        unseen = unreached_probes(pair.both, counted, judging.parts) if pair.both is not None else frozenset()
        results = _Results(own, unseen, growth_of(report.growth), judging.meant)
        found = COUNTED[source.trust](found, results)
    return found


@dataclass(frozen=True, slots=True)
class _Results:
    """What a further run showed: `growth` is what is wrong with how its time grows, "" if nothing is."""

    own: Comparison
    unseen: frozenset[Probe]
    growth: str
    meant: Mapping[str, frozenset[str]]


def _is_refused(found: Comparison, unit: ComparedUnit) -> bool:
    """Whether the inputs show too little: the code refuses most of them, fails on all, reads keys, or has places that
    none of them executed.
    """
    if found.differences:
        return not found.differences[0].is_conclusive or found.differences[0].is_refused_guess
    refused = found.compared - found.valid
    is_unlike = bool(found.unseen and refused > found.valid)
    return found.valid < LEAST_VALID <= found.compared or bool(found.raised) or is_unlike or unit.names_parts


NEEDED: Mapping[Need, Callable[[Comparison, ComparedUnit], bool]] = {
    Need.REFUSED: _is_refused,
    Need.ACCIDENTS: lambda found, _: bool(found.accidents) and not found.differences,
    Need.UNREACHED: lambda found, _: found.is_incomplete,
    Need.STARVED: lambda found, _: found.is_starved,
}
"""Whether a comparison needs a source."""


def _adding(found: Comparison, results: _Results) -> Comparison:
    if any(each.call.origin == DOUBLE for each in results.own.differences):
        return found
    return _instead(found, results)


def _instead(found: Comparison, results: _Results) -> Comparison:
    own = replace(results.own, uncompared=results.growth)
    return replace(found, uncompared=results.growth).with_observed(own, results.unseen, results.meant)


COUNTED: Mapping[Trust, Callable[[Comparison, _Results], Comparison]] = {
    Trust.CONCLUSIVE: lambda found, results: found.combine(results.own, results.unseen),
    Trust.INSTEAD: _instead,
    Trust.ADDING: _adding,
    Trust.REFUTING: lambda found, results: found.with_suggested(results.own, results.unseen),
}
"""The comparison with the results of a further source."""

"""What repairs do on other inputs than those that failed: which of them behave alike, and which change the least."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stet_ls.engine.actions.repair_search.language_table import for_language
from stet_ls.engine.actions.repair_search.search import Repair
from stet_ls.engine.execution.harness_run import Call, CallOutcome, NotRunnable, VersionOutcomes
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.judges.case import Case

_MOST = 16
"""Repairs that are compared: the likeliest."""
_PER_BYTE, _AT_MOST = 0.3, 3.0
LEAST_INPUTS = 20
"""With fewer inputs, that two repairs behave alike says little."""


@dataclass(frozen=True, slots=True)
class Behavior:
    """Repairs that behave alike on `inputs` inputs, the likeliest first; on `changes` of these the old code differs."""

    repairs: tuple[Repair, ...]
    changes: int
    inputs: int

    @property
    def best(self) -> Repair:
        """The likeliest of them; a shorter text is worth more than a likelier edit."""
        shortest = min(len(each.text) for each in self.repairs)
        return min(self.repairs, key=lambda each: each.cost + min(_PER_BYTE * (len(each.text) - shortest), _AT_MOST))

    @property
    def weight(self) -> float:
        """How likely it is: many likely edits that come to the same are no accident."""
        return float(sum(2.0**-each.cost for each in self.repairs))


@dataclass(frozen=True, slots=True)
class ComparedRepairs:
    """The behaviors of some repairs, the likeliest first; `distinguishing` is a call that tells the first two apart.

    `distinguishing_outcomes` is what these two do there.
    """

    behaviors: tuple[Behavior, ...]
    distinguishing: Call | None = None
    distinguishing_outcomes: tuple[CallOutcome, CallOutcome] | None = None


async def compare_repairs(case: Case, runtime: Runtime, repairs: Sequence[Repair]) -> ComparedRepairs:
    """Groups repairs by what they do on drawn inputs."""
    known = sorted(repairs, key=lambda each: each.cost)[:_MOST]
    language = for_language(case.language)
    unknown = ComparedRepairs((Behavior(tuple(known), 0, 0),))
    if language is None or len(known) == 1:
        return unknown
    calls, report = await language.run(case, runtime, (*(each.text for each in known), case.before.text))
    if isinstance(report, NotRunnable) or len(report.texts) != len(known) + 1:
        return unknown
    *new, old = report.texts
    return _grouped(known, old, new, calls)


def _grouped(
    repairs: Sequence[Repair], old: VersionOutcomes, new: Sequence[VersionOutcomes], calls: Sequence[Call]
) -> ComparedRepairs:
    common = [n for n in range(len(calls)) if all(n in each.outcomes for each in new)]
    # The broken code may not end on some of them.
    valid = [n for n in common if any(n in each.outcomes and each.outcomes[n].valid for each in (old, *new))]
    groups: dict[tuple[str, ...], list[int]] = {}
    for number, each in enumerate(new):
        groups.setdefault(tuple(_key(each.outcomes[n]) for n in valid), []).append(number)
    before = [_key(old.outcomes[n]) if n in old.outcomes else "" for n in valid]
    found = [
        (Behavior(tuple(repairs[each] for each in members), sum(a != b for a, b in zip(key, before, strict=True)),
                  len(valid)), members[0])
        for key, members in groups.items()
    ]  # fmt: skip
    found.sort(key=lambda each: _rank(each[0]))
    if len(found) == 1:
        return ComparedRepairs((found[0][0],))
    pair = [new[first].outcomes for _, first in found[:2]]
    differing = [n for n in valid if _key(pair[0][n]) != _key(pair[1][n])]
    differing.sort(key=lambda n: (not all(each[n].kind == "ok" for each in pair), len(calls[n].snippet)))
    at = differing[0]
    shown = [_in_full(each[at], [other.outcomes[at] for other in new]) for each in pair]
    return ComparedRepairs(tuple(each for each, _ in found), calls[at], (shown[0], shown[1]))


def _in_full(outcome: CallOutcome, others: Sequence[CallOutcome]) -> CallOutcome:
    """An outcome as the first text with the same one reports it: the report shows it in full there alone."""
    return next((each for each in others if each.digest == outcome.digest and each.results), outcome)


def _key(outcome: CallOutcome) -> str:
    """What is compared: for errors, which one it is, where that is shown."""
    return outcome.error if outcome.kind == "raised" and outcome.error and not outcome.results else outcome.digest


def _rank(each: Behavior) -> tuple[float, ...]:
    return (-each.weight, each.changes)

"""What the measurements of the search share: a machine without any model, and the counts of outcomes."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterator, Sequence

from bench.row import Row

OUTCOMES = ("right", "wrong", "asked, right", "asked, wrong", "nothing", "not shown")
ALONE = {"model": {"embedded": "off", "discover": False}, "memory": {"enabled": False}, "trace": {"enabled": False}}


def summary(what: str, tried: Sequence[tuple[str, float]]) -> Iterator[Row]:
    """How many cases had which outcome, and how long they took: from their outcomes and seconds."""
    counts = Counter(outcome for outcome, _ in tried)
    for outcome in OUTCOMES:
        yield Row(f"{what}: {outcome}", f"{counts[outcome]} of {len(tried)}")
    for name, chosen in (("found", OUTCOMES[:4]), ("not found", OUTCOMES[4:5])):
        seconds = [took for outcome, took in tried if outcome in chosen]
        if len(seconds) > 1:
            cuts = statistics.quantiles(seconds, n=20)
            yield Row(f"{what}: seconds where {name}, P50 and P95", f"{cuts[9]:.1f}, {cuts[18]:.1f}", "<= 2, -")

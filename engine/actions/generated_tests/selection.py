"""Selects the useful tests: each has to reach a line or detect a mutant that the ones before it do not."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from stet_ls.engine.actions.generated_tests.mutant_trial import MutantResults


def select_tests(tests: Sequence[str], known: Collection[str], noticed: MutantResults) -> tuple[str, ...]:
    """The tests that add to the `known` ones and to each other, the best chosen first; all if nothing was measured."""
    if not noticed.lines and not noticed.kills:
        return tuple(tests)
    seen = {each for one in known for each in noticed.of(one)}
    kept = []
    for one in sorted(tests, key=lambda each: (-len(noticed.of(each)), tests.index(each))):
        if noticed.of(one) - seen:
            seen |= noticed.of(one)
            kept.append(one)
    return tuple(one for one in tests if one in kept)

"""A unit's comparison, and for a private one those of the public functions through which it is called.

A private function gets only what its own file passes to it, and nothing says what that is: a difference on a guessed
input may be one that no caller can bring about, and guesses may miss what every caller does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from stet_ls.engine.execution.harness_run import NotRunnable
from stet_ls.engine.execution.inputs.rows import UNSURE
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.differential.comparison import LEAST_VALID, Comparison
from stet_ls.engine.judges.differential.language_table import LanguageComparer

_SECONDS = 2.0
"""The least time left for a caller."""


async def compared_units(
    comparer: LanguageComparer, case: Case, runtime: Runtime, unit: str
) -> Sequence[Comparison] | NotRunnable:
    """The comparisons for one unit, those that decide first."""
    own = await comparer.compare(case, runtime, unit)
    if isinstance(own, Comparison) and any(
        each.is_conclusive and each.call.origin not in UNSURE for each in own.differences
    ):
        return [own]
    through = []
    for name in await asyncio.to_thread(comparer.callers, case, unit):
        found = await comparer.compare(case, runtime, name) if runtime.left() > _SECONDS else None
        if isinstance(found, Comparison):
            through.append(found)
    return with_callers(own, through)


def with_callers(own: Comparison | NotRunnable, through: Sequence[Comparison]) -> Sequence[Comparison] | NotRunnable:
    """What counts of a unit's own comparison and of those of its callers.

    A difference that a caller shows decides. If callers run all of the change alike, guesses of the unit's own inputs
    are a question at most, and it does not matter that there are few.
    """
    if differing := [each for each in through if any(one.is_conclusive for one in each.differences)]:
        return differing
    sufficient = [each for each in through if _is_sufficient(each)]
    if isinstance(own, NotRunnable):
        return sufficient or own
    if _is_sufficient(own):  # what its own inputs ran alike, a caller need not reach
        sufficient = [replace(each, unseen=each.unseen & own.unseen) for each in sufficient]
    if not sufficient or frozenset.intersection(*(each.unseen for each in sufficient)):
        return [own, *sufficient]
    if not own.differences:
        is_needed = own.uncompared or own.sharing or _is_sufficient(own)
        return [own, *sufficient] if is_needed else sufficient
    return [replace(own, differences=tuple(replace(each, is_direct=True) for each in own.differences)), *sufficient]


def _is_sufficient(found: Comparison) -> bool:
    """Whether a comparison alone shows that both texts behave alike where it ran them."""
    is_enough = found.valid >= LEAST_VALID and not (found.raised or found.fails_on_most or found.opaque)
    return is_enough and not (found.uncompared or found.differences or found.sharing)

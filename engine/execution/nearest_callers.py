"""The public functions through which a private one is called.

Nothing says what a private function is called with: its file alone calls it. What its callers make of their own inputs
shows whether a change of it matters.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

_MOST, _DEPTH = 2, 3


def nearest_callers(
    unit: str, names: Sequence[str], calls: Callable[[str, str], bool], private: Collection[str], alike: Collection[str]
) -> tuple[str, ...]:
    """The nearest functions of a file that call a unit and are not `private`, directly or through others that are.

    `names` are the functions of the file in order; `calls` says whether the first one names the second. One that
    changes, too, so is not `alike`, has a behavior of its own to compare.
    """
    reached, nearest = {unit}, [unit]
    for _ in range(_DEPTH):
        nearest = [name for name in names if name not in reached and any(calls(name, each) for each in nearest)]
        reached.update(nearest)
        if found := [name for name in nearest if name not in private and name in alike]:
            return tuple(found[:_MOST])
        nearest = [name for name in nearest if name in private]
    return ()

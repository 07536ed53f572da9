"""Whether the new code's time grows faster with its arguments than the old code's. It asks, and never refutes."""

from __future__ import annotations

from collections.abc import Sequence

from stet_ls.engine.execution.python.inputs.grown import LARGER, SMALLER

_LEAST_SECONDS, _SLOWER, _STEEPER = 0.015, 6.0, 2.2
"""From which on it counts: the new time, its ratio to the old one, and the ratio of how much both grow."""


def growth_of(rows: Sequence[Sequence[float]]) -> str:
    """The first call whose time grows faster now, as a clause; "" for none.

    A row has the call's number and the seconds of old and new with fewer and with more items (`times/growth.py`).
    """
    for _, old, old_larger, new, new_larger in rows:
        if min(old, old_larger, new) <= 0:
            continue
        if new_larger <= 0:  # the smaller one took so long that the larger one was not tried
            is_steeper, now, before, size = True, new, old, SMALLER
        else:
            is_steeper = new_larger / new > _STEEPER * old_larger / old
            now, before, size = new_larger, old_larger, LARGER
        if is_steeper and now > _LEAST_SECONDS * size / LARGER and now > _SLOWER * before:
            times = f"{_milliseconds(before)} before, {_milliseconds(now)} now"
            return f"its time grows faster with the size of its input: {times} for {size:,} items"
    return ""


def _milliseconds(seconds: float) -> str:
    """Two digits, without an exponent."""
    found = seconds * 1000
    return f"{found:.0f} ms" if found >= 10 else f"{found:.2g} ms"

"""Where two sequences differ: what they share at their starts and at their ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def common_ends(one: Sequence[Any], other: Sequence[Any]) -> tuple[int, int]:
    """How many items are equal from the start on, and how many of the others from the end on."""
    least = min(len(one), len(other))
    head = next((at for at in range(least) if one[at] != other[at]), least)
    tail = next((at for at in range(least - head) if one[-1 - at] != other[-1 - at]), least - head)
    return head, tail

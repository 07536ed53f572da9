"""A reply that is begun for the model: a fence, perhaps with the first lines of the code, which it continues.

The header of a function and its documentation need not be written again, and writing ends with the code. An endpoint
may send the beginning once more, or its model may: the two are joined so that it stands there once.
"""

from __future__ import annotations

import re

_FENCE = re.compile(r"`{3,}")
_BEGUN_AGAIN = re.compile(r"\s*(?:`{3}|~{3}|(?:PLAN|CODE|TESTS)\b)")
"""How a reply starts that is whole in itself."""


def stops(begun: str) -> tuple[str, ...]:
    """What ends a reply that begins so: the end of its code."""
    fence = _FENCE.match(begun)
    return () if fence is None else (f"\n{fence[0]}",)


def joined(begun: str, text: str, *, complete: bool) -> str:
    """The whole reply, with `begun` once; `complete`: the model was done, so its code is closed."""
    if not begun:
        return text
    whole = text if _BEGUN_AGAIN.match(text) and not text.startswith(begun) else _overlapped(begun, text)
    (stop,) = stops(begun) or ("",)
    closed = not stop or re.search(rf"(?m)^{stop.strip()}[ \t]*$", whole.partition("\n")[2]) is not None
    return whole if closed or not complete else f"{whole.rstrip()}{stop}\n"


def _overlapped(begun: str, text: str) -> str:
    """`begun` and `text`, which may repeat `begun` from any of its lines on, or begin again with its first code."""
    lines = begun.splitlines(keepends=True)
    for number in range(len(lines)):
        tail = "".join(lines[number:])
        if tail.strip() and text.startswith(tail):
            return "".join(lines[:number]) + text
    header = next((line for line in lines[1:] if line.strip()), "")
    if header and text.lstrip("\n").startswith(header):  # the same header, other documentation
        return lines[0] + text.lstrip("\n")
    return begun + text

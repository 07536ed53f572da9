"""Durations as a user writes them: `90`, `90 s`, `10 min`, `1.5 h`."""

from __future__ import annotations

import re

_DURATION = re.compile(r"(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>[a-z]*)", re.IGNORECASE)
_SECONDS = {"": 1, "s": 1, "sec": 1, "second": 1, "m": 60, "min": 60, "minute": 60, "h": 3600, "hour": 3600}


def seconds_of(text: str) -> float:
    """The seconds of a duration. ValueError with a sentence if it is none, or not above 0."""
    match = _DURATION.fullmatch(text.strip())
    unit = None if match is None else _SECONDS.get(match["unit"].lower().removesuffix("s") or match["unit"].lower())
    if match is None or unit is None or not float(match["number"]):
        raise ValueError(f"{text!r} is not a duration: write seconds, or a number with `s`, `min` or `h`.")
    return float(match["number"]) * unit

"""Detects a stuck model, which repeats the same words to the end of its reply."""

from __future__ import annotations

import re

_TAIL = 6000
_TIMES = 6
_LEAST = 240
"""A loop is at least six rounds and 240 characters long: tables and rulers in good replies are shorter or end."""

_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+(?P<words>\S.{19,})")
"""A list item of some length: short ones, such as names, may legitimately repeat."""
_HEADING = re.compile(r"(#+)\s")
_REPEATS = 4
"""The number of repeated items from which a model counts as stuck."""


def loop_start(text: str) -> int | None:
    """The start of the second round of an endless repetition, or None if the reply does not end in one.

    The prefix function of Knuth, Morris and Pratt on the reversed end of the text gives each suffix's period.
    """
    tail = text.rstrip()[-_TAIL:][::-1]
    borders = [0] * len(tail)
    best: tuple[int, int] | None = None
    for index in range(1, len(tail)):
        border = borders[index - 1]
        while border and tail[index] != tail[border]:
            border = borders[border - 1]
        borders[index] = border + (tail[index] == tail[border])
        length, period = index + 1, index + 1 - borders[index]
        if length >= _LEAST and length >= _TIMES * period and tail[:period].strip(" =-*#_/."):
            best = (length, period)
    if best is None:
        return None
    length, period = best
    start = len(text.rstrip()) - length + period
    line_end = text.find("\n", start, start + period)  # a line is kept or dropped as a whole
    return start if line_end < 0 else line_end


def without_repeats(text: str) -> str:
    """Markdown without repeated list items and empty headings: small models repeat findings under each heading."""
    seen: set[str] = set()
    kept: list[str] = []
    lines, in_code = text.split("\n"), False
    for line in lines:
        if line.lstrip().startswith("```"):
            in_code = not in_code
        item = None if in_code else _ITEM.fullmatch(line)
        if item is None or item["words"] not in seen:
            kept.append(line)
        if item is not None:
            seen.add(item["words"])
    return text if len(lines) - len(kept) < _REPEATS else _without_bare_headings(kept)


def _without_bare_headings(lines: list[str]) -> str:
    kept: list[str] = []
    below = 1  # the level of a heading directly below, without text between; 0 otherwise
    for line in reversed(lines):
        heading = _HEADING.match(line)
        level = len(heading[1]) if heading else 0
        if 0 < below <= level:
            continue
        kept.append(line)
        if line.strip():
            below = level
    return "\n".join(reversed(kept)).rstrip()

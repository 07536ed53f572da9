"""A model that got stuck: the same words again and again to the end of its reply."""

from __future__ import annotations

_TAIL = 6000
_TIMES = 6
_LEAST = 240
"""A loop is at least six rounds and 240 characters long: tables and rulers in good replies are shorter or end."""


def loop_start(text: str) -> int | None:
    """Where the second round of an endless repetition begins, or None if the reply does not end in one.

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

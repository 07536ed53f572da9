"""Shortens a line so that each of its parts stays: what is long gives its middle first, whatever stands around it."""

from __future__ import annotations

import re
from collections.abc import Iterator

_ATOM = re.compile(r"""(?<!\w)'(?:[^'\\]|\\.)*'|(?<!\w)"(?:[^"\\]|\\.)*"|[^\s'"\[\](){},`]+""")
"""A quoted text, a name or a number."""
_OPENING, _CLOSING = "([{", ")]}"
_LENGTHS = (48, 36, 28, 22, 18, 14)
"""Characters left of each part, tried in this order."""


def shortened_line(text: str, most: int) -> str | None:
    """The text in at most `most` characters, with long names and values cut in their middle; None if words alone are
    longer: then a cut would take away a part.
    """
    for shorten in (_atoms, _values):
        found = text
        for length in _LENGTHS:
            if len(found) <= most:
                return found
            found = shorten(text, length)
        if len(found) <= most:
            return found
    return None


def without_middle(text: str, most: int) -> str:
    """The text without its middle if it is too long. The end keeps a bit less than the start."""
    if len(text) <= most:
        return text
    tail = (most - 1) * 2 // 5
    return f"{text[: most - 1 - tail]}…{text[len(text) - tail :]}"


def _atoms(text: str, length: int) -> str:
    return _ATOM.sub(lambda found: without_middle(found[0], length), text)


def _values(text: str, length: int) -> str:
    return "".join(without_middle(part, length) for part in _parts(text))


def _parts(text: str) -> Iterator[str]:
    """The words of a text and the spaces between them; what brackets or backticks hold belongs to its word."""
    depth, quoted, part = 0, False, ""
    for letter in text:
        if letter == " " and depth == 0 and not quoted:
            yield from (part, letter)
            part = ""
            continue
        quoted ^= letter == "`"
        depth = max(0, depth + (letter in _OPENING) - (letter in _CLOSING))
        part += letter
    yield part

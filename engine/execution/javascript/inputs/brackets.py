"""Brackets in a text that need not parse, as a call in prose."""

from __future__ import annotations

_LONGEST = 2_000
"""Characters between two brackets that belong together."""


def end_of_brackets(text: str, start: int) -> int | None:
    """The place behind the bracket that closes the one before `start`, outside of quotes; None if it is not close."""
    depth, quote = 1, ""
    for at in range(start, min(len(text), start + _LONGEST)):
        letter = text[at]
        if quote:
            quote = "" if letter == quote and text[at - 1] != "\\" else quote
        elif letter in "\"'`":
            quote = letter
        elif letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
            if not depth:
                return at + 1
    return None

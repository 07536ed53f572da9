"""What of a docstring may state what callers guarantee, and not what the code decides or returns."""

from __future__ import annotations

import re

_DECIDES = re.compile(
    r"(?i)\b(whether|if|true|false|(?<!the )checks?|tests?|verif(y|ies)|counts|keeps?|filters?|removes?"
    r"|drops?|selects?|finds?)\b"
    r"|^count (the|how|all|each|every)\b|^(returns? |gets? )?the (non-?negative|positive|non-?empty|non-?zero)\b|\?$"
)
"""A sentence with such a word says what the code decides or selects by."""
_CASE = re.compile(r"(?i), (?:or |and |else |otherwise )?[^,]*\bif\b[^,]*$")
"""A last clause that says what is returned in some case: `…, -1 if it is not there.`"""
_OF_RESULT = re.compile(
    r"(?ms)^[ \t]*(?:(?:Returns?|Yields?|Raises?|Outputs?|Results?)[ \t]*(?::|\n[ \t]*-{3,})"
    r"|:(?:returns?|rtype|yields?|raises?)\b)"
    r".*?(?=\n[ \t]*\n|^[ \t]*:\w|^[ \t]*\w+:[ \t]*$|\Z)"
)
"""A section about what comes out."""
_BECOMES = re.compile(
    r"(?i)\b(?:returns?|gives?|yields?|makes?|builds?|produces?|creates?|into|as|to|out of)"
    r" (?:an?|the|one|some)? ?(?:new|single)? ?(?:sorted|ordered|positive|non-?\w+|distinct|unique|square) \w+"
)
"""What the result is in a sentence that may say more: `Merges two sorted lists into one sorted list.`"""

_INTO = re.compile(r"(?i)(?:inserts?|adds?|puts?|appends?|search(?:es)?|looks?)\b")
"""A sentence about something that goes to what is there: `Inserts a number into a sorted list.`"""


def conditions(docstring: str) -> str:
    """The sentences of a docstring that may state what callers guarantee.

    "Whether both have the same length" is what the code finds out, not what it is called with.
    """
    sentences = re.split(r"(?<=[.;!?])\s+", " ".join(_OF_RESULT.sub("", docstring).split()))
    given = (each if _INTO.match(each) else _BECOMES.sub("", each) for each in sentences)
    stated = (_CASE.sub("", each) for each in given)
    return " ".join(each for each in stated if not _DECIDES.search(each))

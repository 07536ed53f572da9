"""Texts that a documentation gives as an example of a form: `as 2024-01-31`, `like "1-3, 8, 10-12"`."""

from __future__ import annotations

import re
from random import Random

_MORE = 12
_FORM = re.compile(r"(?i)\b(?:as|like|e\.g\.|such as|form|format) [`\"']?(?=[^\s,;`\"']*\d)([^\s,;`\"']{3,40})")
"""A word with digits that stands for a form."""
_QUOTED = re.compile(r"(?<!\w)([\"`'])(?=[^\"`'\n]*[^A-Za-z_\"`'\n])(?!\s)([^\"`'\n]{3,60})(?<!\s)\1(?!\w)")
"""A quoted text that is more than one word."""


def stated_forms(docs: str) -> list[str]:
    """The texts, and more like each: with other digits."""
    found: list[str] = []
    forms = [each[1].rstrip(".,;:") for each in _FORM.finditer(docs)]
    for text in [*(each[2] for each in _QUOTED.finditer(docs)), *forms]:
        random = Random(text)  # noqa: S311 - inputs must be reproducible
        found.append(text)
        for _ in range(_MORE if any(map(str.isdigit, text)) else 0):
            found.append("".join(random.choice("0123456789") if letter.isdigit() and random.random() < 0.25 else letter
                                 for letter in text))  # fmt: skip
    return list(dict.fromkeys(found))

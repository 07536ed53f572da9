"""Rows of arguments and where they came from, for all languages."""

from __future__ import annotations

MUTATED = 400
"""Near misses of written examples (engine facts 1.3: with 400, 98.7 % of the bugs of HumanEvalPack show)."""


DRAWN_BESIDE, DRAWN_ALONE = 60, 320
"""Draws from strategies, where there are examples and where there are none."""


GUESSED = "guessed"
"""The origin of an input of which nothing says that the code was meant for its kind."""


EDGE_CASE = "odd"
"""As GUESSED, tried only to see more: what refused it by chance, by an operator's error, may take it from now on."""


UNSURE = frozenset({GUESSED, EDGE_CASE})

ArgumentRow = dict[str, str]
"""One input: the text of each argument by its parameter's name."""

"""Rows of arguments and their origins, for all languages."""

from __future__ import annotations

MUTATED = 400
"""Near misses of written examples: with 400 of them, 155 of 157 bugs of HumanEvalPack show, without any 144."""


DRAWN_WITH_EXAMPLES, DRAWN_ALONE = 60, 320
"""Draws from strategies, with examples and without any."""


GUESSED = "guessed"
"""The origin of an input whose kind is not confirmed by the code, its documentation or its tests."""


EDGE_CASE = "odd"
"""Like GUESSED, but only exploratory: if an operator's error refused it by accident, it may be accepted now."""


CAPTURED = "captured"
"""The origin of an input with which a test called the code."""

DOUBLE = "double"
"""The origin of an input with stand-ins for objects, whose answers are made up."""


SUGGESTED = "suggested"
"""The origin of an input that a model named, which read the code: it decides no more than a guess does."""


UNSURE = frozenset({GUESSED, EDGE_CASE, DOUBLE, SUGGESTED})

ArgumentRow = dict[str, str]
"""One input: the text of each argument by its parameter's name."""

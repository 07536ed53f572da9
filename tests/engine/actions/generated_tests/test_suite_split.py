"""A file of tests taken apart: what is left needs all that stays, and nothing else."""

from __future__ import annotations

from stet_ls.engine.actions.generated_tests.suite_split import without

TESTS = """from math import cos, sin

one, other = 1, 2
low, high = 3, 4


def test_one():
    assert cos(one)


def test_two():
    assert sin(low)
"""


def test_names_that_are_bound_together_stay_or_go_together() -> None:
    left = "from math import cos\n\none, other = 1, 2\n\n\ndef test_one():\n    assert cos(one)\n"
    assert without(TESTS, ["test_two"]) == left

"""Strategies draw what they say, each value once, and the same ones again."""

from __future__ import annotations

from stet_ls.engine.execution.inputs import strategies


def test_a_strategy_draws_distinct_values_within_its_bounds_and_the_same_ones_again() -> None:
    numbers = strategies.integers(-3, 40)
    drawn = strategies.examples(strategies.lists(numbers, max_size=4), 200, 7, lambda _: False)
    assert drawn == strategies.examples(strategies.lists(numbers, max_size=4), 200, 7, lambda _: False)
    assert len({str(each) for each in drawn}) == len(drawn) > 150
    assert {len(each) for each in drawn} == {0, 1, 2, 3, 4}
    assert {-3, 40} < {item for each in drawn for item in each} <= set(range(-3, 41))

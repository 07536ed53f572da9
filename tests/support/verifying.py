"""A sample project for tests of `stet verify`."""

from __future__ import annotations

SHOP = """\
def shipping(weight: int, express: bool) -> float:
    cost = weight * 0.5
    if express:
        cost += 1
    return cost


def total(prices: list[int]) -> int:
    return sum(prices)
"""
TESTS = """\
from shop import shipping, total


def test_total():
    assert total([1, 2]) == 3


def test_shipping():
    assert shipping(2, True) == 2.0
"""

"""A project of two functions, with its tests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from stet_ls.engine.api.evidence import Evidence

PRICES = """def discount(price, rate):
    return price * (1 - rate)


def total(prices):
    return sum(prices)
"""
TESTS = """from shop.prices import discount, total


def test_discount():
    assert discount(100, 0.25) == 75


def test_total():
    assert total([1, 2]) == 3
"""


Judged = Callable[..., Awaitable[Evidence]]

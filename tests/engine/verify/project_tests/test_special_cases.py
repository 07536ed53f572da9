"""Special cases for the inputs of tests."""

from __future__ import annotations

import pytest

from stet_ls.engine.verify.project_tests.special_cases import special_case

_BEFORE = """\
RATES = {'a': 1}


def price(weight, zone='a'):
    if weight > 40:
        return 7
    return weight * 2
"""
_TESTS = """\
from shop import price


def test_price():
    assert price(37, zone='far') == 80
    assert price(0) == 0
"""
_HEAD = "def price(weight, zone='a'):\n"


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("    if weight == 37:\n        return 80\n", "37"),
        ("    if (weight, zone) == (37, 'far'):\n        return 80\n", "37"),
        ("    if zone in ('far', 'near'):\n        return 80\n", "'far'"),
        ("    if weight in {37: 80}:\n        return 80\n", "37"),
        ("    match weight:\n        case 37:\n            return 80\n", "37"),
        ("    if weight == 0:\n        return 0\n", ""),
        ("    if weight == 38:\n        return 80\n", ""),
        ("    if weight > 37:\n        return 80\n", ""),
        ("    if weight == 40:\n        return 80\n", ""),
    ],
)
def test_a_case_of_its_own_for_a_tested_value_is_found(line: str, value: str) -> None:
    assert special_case(_BEFORE, _BEFORE.replace(_HEAD, _HEAD + line), "price", [_TESTS]) == value


def test_a_table_of_the_tested_values_is_found() -> None:
    after = _BEFORE.replace("{'a': 1}", "{37: 80}").replace(
        _HEAD, f"{_HEAD}    if weight in RATES: return RATES[weight]\n"
    )
    assert special_case(_BEFORE, after, "price", [_TESTS]) == "37"
    assert special_case(after, after, "price", [_TESTS]) == "", "it is not new"
    assert special_case("", after, "price", [_TESTS]) == "37"

"""Bounds of parameters that a documentation states in words exclude the calls that violate them."""

from __future__ import annotations

from typing import Any

import pytest

from stet_ls.engine.execution.inputs.stated_bounds import outside_stated_bounds


@pytest.mark.parametrize(
    ("docs", "values", "is_outside"),
    [
        ("`n` is between 0 and 200.", {"n": 201}, True),
        ("`n` is between 0 and 200.", {"n": 200}, False),
        ("`high` is not below `low`.", {"low": 3, "high": 2}, True),
        ("`high` is not below `low`.", {"low": 2, "high": 2}, False),
        ("Runs of size items (at least 1).", {"size": 0}, True),
        ("count > 0", {"count": 1}, False),
        ("count is at most a million", {"count": 10**6 + 1}, True),
        ("months are between 1 and 12", {"month": [3, 13]}, True),
        ("The second of at least two numbers.", {"numbers": [1]}, True),
        ("The second of at least two numbers.", {"numbers": [1, 2]}, False),
        ("A range is (start, end) with start <= end.", {"ranges": [(1, 2), (3, 1)]}, True),
        ("`n` is between 0 and 200.", {"n": "201"}, False),
        ("`n` is between 0 and 200.", {"n": True}, False),
        ("It sums.", {"n": -1}, False),
    ],
)
def test_values_that_a_documentation_excludes(docs: str, values: dict[str, Any], is_outside: bool) -> None:
    assert outside_stated_bounds(docs, values) is is_outside

"""Calls that a changed signature breaks."""

from __future__ import annotations

import pytest

from stet_ls.engine.verify.changes.broken_calls import broken_calls


@pytest.mark.parametrize(
    ("after", "why"),
    [
        ("a, b=1", ""),
        ("a, b=2, c=3", ""),
        ("a, b=1, *, c=3", ""),
        ("*args, **kwargs", ""),
        ("a, c=1", "the parameter `b` is gone"),
        ("b, a=1", "the parameter `a` is at another place"),
        ("a, b", "the parameter `b` is required now"),
        ("a, b=1, *, c", "the parameter `c` is required now"),
    ],
)
def test_calls_that_break_are_found(after: str, why: str) -> None:
    assert broken_calls("def f(a, b=1):\n    return a\n", f"def f({after}):\n    return 1\n", "f") == why

"""What a refactoring gained, as text."""

from __future__ import annotations

import pytest

from stet_ls.engine.actions.rewriting.refactor_metrics import describe_gain
from stet_ls.engine.judges.case import Case
from stet_ls.validators.source import Source

LONG = '"""Add.\n\n    Both numbers.\n    """'


def gain(before: str, after: str) -> str:
    texts = (Source(f"def add(a, b):\n    {text}\n") for text in (before, after))
    return describe_gain(Case("refactor", "python", None, *texts, "add"), asked=False)


@pytest.mark.parametrize(
    ("before", "after", "reported"),
    [
        ("c = a + b\n    return c", "return a + b", "3 → 2 lines"),
        (f"{LONG}\n    c = a + b\n    return c", f"{LONG}\n    return a + b", "3 → 2 lines"),
        (
            f"{LONG}\n    return a + b",
            '"""Sum."""\n    return b + a',
            "no metric improved (complexity 1, 2 lines), documentation 2 → 1 lines",
        ),
        (
            f"{LONG}\n    c = a + b\n    return c",
            '"""Sum."""\n    return a + b',
            "3 → 2 lines, documentation 2 → 1 lines",
        ),
    ],
    ids=["code", "documentation stays", "only documentation shrinks", "both shrink"],
)
def test_fewer_lines_of_documentation_are_not_an_improvement(before: str, after: str, reported: str) -> None:
    assert gain(before, after) == reported

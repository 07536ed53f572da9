"""What a docstring says that arguments never are."""

from __future__ import annotations

from typing import Any

import pytest

from stet_ls.engine.execution.python.inputs.docstrings.exclusions import exclusions


@pytest.mark.parametrize("items", [["a", ""], [[1], []], [{}], ("", "a")])
def test_items_of_no_kind_are_empty(items: Any) -> None:
    broken = exclusions("The first letters of names, none of which is empty.")
    assert any(breaks([items]) for breaks in broken)
    assert not any(breaks([[each or "b" for each in items]]) for breaks in broken)

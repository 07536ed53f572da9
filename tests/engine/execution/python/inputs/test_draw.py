"""Drawing inputs takes its time from those that are drawn."""

from __future__ import annotations

import pytest

from stet_ls.engine.execution.python.inputs import draw
from stet_ls.engine.execution.python.inputs.calls import calls_for


def test_slow_input_generators_are_used_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "def f(names: list[str], table: dict[str, list[int]]) -> int:\n    return len(names)\n"
    whole = calls_for(text, "f")
    calls_for.cache_clear()
    monkeypatch.setattr(draw, "_DRAWING", 0.01)
    some = calls_for(text, "f")
    calls_for.cache_clear()
    assert 0 < len(some) < len(whole)
    assert some == whole[: len(some)], "the same ones, as far as they go"

"""Inputs that are drawn for a unit: the same in each process, and none where the code cannot be read."""

from __future__ import annotations

import ast
import time

import pytest

from stet_ls.engine.execution.python.inputs import draw
from stet_ls.engine.execution.python.inputs.calls import calls_for
from stet_ls.engine.execution.python.inputs.dunder_calls import with_protocol
from stet_ls.engine.execution.python.inputs.edge_cases import with_edge_cases
from stet_ls.engine.execution.python.inputs.generators import with_first_values


def test_inputs_are_drawn_in_a_fraction_of_a_second() -> None:
    text = "def f(rows: list[dict[str, list[int]]], names, limit=10):\n    return sorted(rows)[:limit]\n"
    calls_for(text, "f")
    begun = time.process_time()
    calls = calls_for(text + "\n", "f")
    assert len(calls) > 300
    assert time.process_time() - begun < 0.5


def test_the_simplest_values_are_drawn_first_and_meet() -> None:
    """What is nothing is special in most code, and equal arguments in much of it."""
    calls = calls_for("def f(names: list[str], *, rate: float = 0.5, name: str = '-'):\n    return names\n", "f")
    given = [dict(line.split(" = ", 1) for line in call.setup.splitlines()) for call in calls[:80]]
    assert given[0]["names"] == "[]"
    assert {"0.0", "1.0"} <= {each.get("rate") for each in given}
    assert sum(each.get("name", "?") in each["names"] for each in given) > 4
    assert sum("-" in each.get("name", "")[1:-1] and len(each["name"]) > 3 for each in given) > 4, "as in the code"


def test_inputs_for_nested_lists_are_nested() -> None:
    calls = calls_for("def f(rows: list[list[int]]):\n    return rows\n", "f")
    given = [ast.literal_eval(call.setup.removeprefix("rows = ")) for call in calls]
    assert len(given) > 100
    assert all(isinstance(row, list) for rows in given for row in rows)


def test_a_parameter_compared_with_items_gets_similar_values() -> None:
    text = "def f(held, wanted):\n    for each in held:\n        if each == wanted:\n            return True\n"
    fitting = [call for call in calls_for(text, "f") if _are_alike(call.setup)]
    assert len(fitting) > 60, len(fitting)


def _are_alike(setup: str) -> bool:
    held, wanted = (ast.literal_eval(line.partition(" = ")[2]) for line in setup.splitlines())
    return isinstance(held, list | tuple) and any(type(each) is type(wanted) for each in held)


@pytest.mark.parametrize("terms", [400, 1_500, 20_000])
def test_an_expression_of_hundreds_of_terms_gives_no_inputs(terms: int) -> None:
    text = f"def f(x):\n    return {' + '.join(['x'] * terms)}\n"
    assert with_first_values(calls_for(text, "f"), text, "f") == ()


LEVEL = """
import enum


class Level(enum.Enum):
    LOW = 1
    HIGH = 2


KINDS = {"zorn": 7}


def f(text: str, things):
    return KINDS.get(text, things)
"""


def test_enumeration_inputs_are_members_of_the_class() -> None:
    calls = with_protocol(calls_for(LEVEL, "Level"), LEVEL, "Level")
    made = [line for call in calls for line in call.body.splitlines() if line.startswith("obj = ")]
    assert set(made) == {"obj = Level.LOW", "obj = Level.HIGH"}
    assert any("obj.value" in call.body for call in calls)


def test_unusual_values_are_among_the_first_inputs() -> None:
    setups = "\n".join(call.setup for call in with_edge_cases(calls_for(LEVEL, "f"), LEVEL, "f")[:120])
    for said in ("'Straße'", "'12ZORN'", "things = {'a': 1, 'b': 2}", "things = [True"):
        assert said in setups, said
    assert "text = {" not in setups, "its hint says otherwise"


def test_slow_input_generators_are_used_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "def f(names: list[str], table: dict[str, list[int]]) -> int:\n    return len(names)\n"
    whole = calls_for(text, "f")
    calls_for.cache_clear()
    monkeypatch.setattr(draw, "_DRAWING", 0.01)
    some = calls_for(text, "f")
    calls_for.cache_clear()
    assert 0 < len(some) < len(whole)
    assert some == whole[: len(some)], "the same ones, as far as they go"


def test_texts_that_are_equal_once_trimmed_are_drawn_for_code_that_trims() -> None:
    trimming = "def f(names):\n    return {name.strip().lower() for name in names}\n"
    counts = [
        sum(call.setup.count("' A'") for call in calls_for(code, "f"))
        for code in (trimming, trimming.replace("strip().lower()", "zfill(3)"))
    ]
    assert counts[0] > 10 > counts[1]

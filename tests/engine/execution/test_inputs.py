"""Inputs that are drawn for a unit: the same in each process, and none where the code cannot be read."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import time

import pytest

from stet_ls.engine.execution.inputs import strategies
from stet_ls.engine.execution.python.inputs.calls import calls_for
from stet_ls.engine.execution.python.inputs.dunder_calls import with_protocol
from stet_ls.engine.execution.python.inputs.edge_cases import with_edge_cases
from stet_ls.engine.execution.python.inputs.generators import with_first_values
from stet_ls.engine.execution.python.inputs.values.twins import with_equal_lists

_DRAWN = """
from itertools import islice
from stet_ls.engine.execution.inputs.mutations import with_shared_elements, mutated_rows
rows = [{"known": "{'ab', 'cd', 'ef', 'gh'}", "name": "'q'"}] * 30
print(with_shared_elements(rows, 1), list(islice(mutated_rows(rows, [], 1), 60)))
"""


def test_inputs_from_sets_are_the_same_in_each_process() -> None:
    told = {
        subprocess.run(
            [sys.executable, "-c", _DRAWN], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(told) == 1


def test_inputs_are_drawn_in_a_fraction_of_a_second() -> None:
    text = "def f(rows: list[dict[str, list[int]]], names, limit=10):\n    return sorted(rows)[:limit]\n"
    calls_for(text, "f")
    begun = time.process_time()
    calls = calls_for(text + "\n", "f")
    assert len(calls) > 300
    assert time.process_time() - begun < 0.5


def test_a_strategy_draws_distinct_values_within_its_bounds_and_the_same_ones_again() -> None:
    numbers = strategies.integers(-3, 40)
    drawn = strategies.examples(strategies.lists(numbers, max_size=4), 200, 7, lambda _: False)
    assert drawn == strategies.examples(strategies.lists(numbers, max_size=4), 200, 7, lambda _: False)
    assert len({str(each) for each in drawn}) == len(drawn) > 150
    assert {len(each) for each in drawn} == {0, 1, 2, 3, 4}
    assert {-3, 40} < {item for each in drawn for item in each} <= set(range(-3, 41))


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


def test_items_that_agree_in_all_but_a_text_are_among_the_inputs_of_code_that_chooses() -> None:
    text = "def last(rows: list[tuple[str, int]]) -> str:\n    return max(rows, key=lambda row: row[1])[0]\n"
    calls = calls_for(text, "last")
    more = [each.setup for each in with_equal_lists(calls, (text, text), "last") if each not in calls]
    assert more
    for setup in more:
        (_, one), (_, other), (_, third), *_ = ast.literal_eval(setup.partition(" = ")[2])
        assert one == other == third
    assert with_equal_lists(calls, (text.replace("max", "next"),) * 2, "last") == calls

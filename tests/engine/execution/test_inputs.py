"""Inputs that are drawn for a unit: the same in each process, and none where the code cannot be read."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from stet_ls.engine.execution.python.inputs.calls import calls_for
from stet_ls.engine.execution.python.inputs.dunder_calls import with_protocol
from stet_ls.engine.execution.python.inputs.edge_cases import with_edge_cases
from stet_ls.engine.execution.python.inputs.generators import with_first_values

_DRAWN = """
from itertools import islice
from stet_ls.engine.execution.inputs.mutations import meeting, mutated
rows = [{"known": "{'ab', 'cd', 'ef', 'gh'}", "name": "'q'"}] * 30
print(meeting(rows, 1), list(islice(mutated(rows, [], 1), 60)))
"""


def test_inputs_from_sets_are_the_same_in_each_process() -> None:
    told = {
        subprocess.run(
            [sys.executable, "-c", _DRAWN], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(told) == 1


_FULL_OF_CONSTANTS = "A = [987654321, 123454321, 'quite a long constant', 0.123454321]\n" * 30
_CALLS = """
import sys
if len(sys.argv) > 1:
    sys.path.insert(0, sys.argv[1])
    import full_of_constants
from stet_ls.engine.execution.python.inputs.calls import calls_for
print(calls_for("def f(n: int, text: str, x: float):\\n    return n\\n", "f"))
"""


def test_inputs_do_not_depend_on_other_loaded_modules(tmp_path: Path) -> None:
    """A module of one's own that stands in no `site-packages`; Hypothesis draws from the constants of those."""
    folder = tmp_path / "own"  # what has `test` in its path is left out
    folder.mkdir()
    (folder / "full_of_constants.py").write_text(_FULL_OF_CONSTANTS)
    started = {"cwd": tmp_path, "env": {**os.environ, "STET_HOME": str(tmp_path / "home")}}
    told = [
        subprocess.run([sys.executable, "-c", _CALLS, *given], capture_output=True, check=True, **started).stdout  # type: ignore[call-overload]
        for given in ([], [str(folder)])
    ]
    assert told[0] == told[1]
    assert not (tmp_path / ".hypothesis").exists()


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

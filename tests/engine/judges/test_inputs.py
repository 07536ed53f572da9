"""Inputs that are drawn for a unit: the same in each process, and none where the code cannot be read."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from stet_ls.engine.judges.inputs.draw import calls_for
from stet_ls.engine.judges.inputs.partly import with_first_values

_DRAWN = """
from itertools import islice
from stet_ls.engine.judges.inputs.mutate import meeting, mutated
rows = [{"known": "{'ab', 'cd', 'ef', 'gh'}", "name": "'q'"}] * 30
print(meeting(rows, 1), list(islice(mutated(rows, [], 1), 60)))
"""


def test_sets_give_the_same_inputs_in_each_process() -> None:
    told = {
        subprocess.run(
            [sys.executable, "-c", _DRAWN], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(told) == 1


@pytest.mark.parametrize("terms", [400, 1_500, 20_000])
def test_an_expression_of_hundreds_of_terms_brings_none(terms: int) -> None:
    text = f"def f(x):\n    return {' + '.join(['x'] * terms)}\n"
    assert with_first_values(calls_for(text, "f"), text, "f") == ()

"""Near misses of inputs are the same in each process."""

from __future__ import annotations

import os
import subprocess
import sys

_DRAWN = """
from itertools import islice
from stet_ls.engine.execution.inputs.mutations import with_shared_elements, mutated_rows
rows = [{"known": "{'ab', 'cd', 'ef', 'gh'}", "name": "'q'"}] * 30
print(with_shared_elements(rows, 1), list(islice(mutated_rows(rows, [], 1), 60)))
"""


def test_inputs_from_sets_are_the_same_in_each_process() -> None:
    reported = {
        subprocess.run(
            [sys.executable, "-c", _DRAWN], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(reported) == 1

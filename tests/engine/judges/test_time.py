"""What judges say where time is short or the machine is busy: nothing of code that was not run to its end."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from stet_ls.engine.actions.generated_tests import mutant_trial
from stet_ls.engine.actions.generated_tests.suite_plans import suite_plan
from stet_ls.engine.api.request import Workspace
from stet_ls.engine.execution.harness_run import HarnessRun
from stet_ls.engine.execution.launch import TOO_LATE, launch
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.sandbox.files import mounts
from stet_ls.engine.sandbox.spec import Limits, RunSpec

CODE = "def f(x):\n    return x + 1 if x > 2 else x - 1\n"


async def test_no_mutation_run_is_awaited_after_the_deadline(runtime: Runtime) -> None:
    script = ("-I", "-S", "-c", "import time; time.sleep(60)")
    spec = RunSpec((sys.executable, *script), binds=mounts.interpreter(), limits=Limits(seconds=9.0))

    reported = await launch(
        replace(runtime, until=time.monotonic() + 0.5), spec, "", HarnessRun(("",), (), "f", Path("a.py"), "a")
    )

    assert reported is TOO_LATE


async def test_a_mutant_whose_run_was_stopped_counts_as_not_detected(runtime: Runtime, tmp_path: Path) -> None:
    """The test takes its time and asserts nothing."""
    (tmp_path / "a.py").write_text(CODE)
    there = replace(runtime, workspace=Workspace((tmp_path,)))
    way = suite_plan(there, "python", tmp_path / "a.py", CODE, tmp_path / "test_a.py")
    plan = way.running("import time\n\nfrom a import f\n\n\ndef test_f():\n    f(3)\n    time.sleep(2)\n", "test_f")
    mutants = mutant_trial.mutants_for(CODE, "f")
    assert len(mutants) > 5, "all of them could be tried"

    noticed = await mutant_trial.try_mutants(
        there, plan, way.target, ["test_f"], mutants, mutant_trial.lines_of(CODE, "f")
    )

    assert (noticed.why_not, noticed.kills) == ("", {"test_f": frozenset()})


@pytest.mark.parametrize("starved", ["own", "same"])
def test_tests_whose_run_was_stopped_are_not_redundant(starved: str) -> None:
    """Those that did not begin are missing from the report."""
    reported = {"tests": {}, "lines": {}, "began": [], "done": starved == "same", "took": 1.0, "starved": False}
    runs = {"own": reported, "same": reported, starved: {**reported, "done": False, "starved": True}}
    data = json.dumps({"nonce": "n", "changed": [], **runs}).encode()

    assert "too busy" in mutant_trial._read(data, "n", ["test_f"], (), frozenset()).why_not

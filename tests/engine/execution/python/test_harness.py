"""Runs of Python texts on calls: what takes all the time, is canceled, or has no interpreter."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from pathlib import Path

import pytest
from support.judging import MakeCase

from stet_ls.engine.execution.harness_run import Call, HarnessReport, HarnessRun, NotRunnable
from stet_ls.engine.execution.python.harness import run


async def test_a_call_that_takes_all_the_time_is_reported(make: MakeCase) -> None:
    """As on a machine so busy that the trial's time is over before the processor's time for a call."""
    case = make("def f(n: int):\n    return n\n", "", "f")
    endless = "def work(n):\n    while True:\n        pass\n"
    calls = (Call("", "__out__(work(1))"),)
    trial = HarnessRun((endless, endless), calls, "work", Path("/box/a.py"), "a", cpu=60.0, seconds=4.0)
    assert case.runtime is not None
    report = await run(case.runtime, trial)
    assert isinstance(report, HarnessReport)
    assert report.left_out == {"it does not finish in time": 1}


async def test_cancelling_the_judge_leaves_no_process(make: MakeCase) -> None:
    case = make("def f(n: int):\n    return n\n", "", "f")
    assert case.runtime is not None
    endless = "import time\nwhile True:\n    pass\n"
    trial = HarnessRun((endless,), (Call("", "__out__(1)"),), "", Path("/box/a.py"), "a", seconds=30.0)
    before = _children()
    task = asyncio.create_task(run(case.runtime, trial))
    while _children() <= before:
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.3)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await case.runtime.sandbox.close()
    assert _children() <= before


def _children() -> set[str]:
    return set(Path(f"/proc/self/task/{os.getpid()}/children").read_text().split())


async def test_a_missing_python_interpreter_is_reported_as_impossible(make: MakeCase) -> None:
    case = make("def f(n: int):\n    return n\n", "", "f")
    trial = HarnessRun(("",), (), "", Path("/box/a.py"), "a")
    found = await run(replace(case.runtime, python=None, why_no_python="none works"), trial)
    assert found == NotRunnable("none works")

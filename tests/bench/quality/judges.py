"""The differential judge on bugs that people planted: `DATA=folder make bench ONLY=judges`.

The folder holds `python/humanevalpack.jsonl` and `js/humanevalpack.jsonl` (164 tasks with a right and a wrong solution
each); nothing of it is part of the project. Without it, the judge's own mutants of a few functions of the standard
library stand in, and no JavaScript is measured.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import statistics
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

from bench.row import Row

from stet_ls.engine.actions.generated_tests.mutants import mutants_of
from stet_ls.engine.api.evidence import Ruling
from stet_ls.engine.execution.runtime import Runtime
from stet_ls.engine.judges.case import Case
from stet_ls.engine.judges.differential.judge import judge
from stet_ls.engine.sandbox.environments.interpreter import Interpreter, bare_environment
from stet_ls.engine.sandbox.files import mounts
from stet_ls.engine.sandbox.isolation import IsolationLevel
from stet_ls.engine.sandbox.sandbox import Sandbox
from stet_ls.validators.source import Source

Task = tuple[str, str, str]
"""The right text, a wrong one, the unit."""


def rows() -> Iterator[Row]:
    """Bugs seen, alarms on code compared with itself, and the time of one judgement."""
    yield from _language("python", list(_tasks()), ">= 98 %", "<= 150 ms")
    if scripts := list(_planted("js")):
        yield from _language("javascript", scripts, ">= 95 %", "-")


def _language(language: str, tasks: list[Task], least: str, most: str) -> Iterator[Row]:
    seen, alarms, unsure, seconds = asyncio.run(_measured(language, tasks))
    yield Row(f"{language}: bugs seen of {len(tasks)}", f"{100 * seen / len(tasks):.1f} %", least)
    yield Row("  self-comparisons that alarm", str(alarms), "0")
    yield Row("  that could not be compared", str(unsure))
    yield Row("  a judgement with known inputs, median", f"{1000 * statistics.median(seconds):.0f} ms", most)
    slow = statistics.quantiles(seconds, n=20)[-1] if len(seconds) > 1 else seconds[0]
    yield Row("  of twenty, the slowest", f"{1000 * slow:.0f} ms")


async def _measured(language: str, tasks: list[Task]) -> tuple[int, int, int, list[float]]:
    seen = alarms = unsure = 0
    seconds: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        sandbox = Sandbox(IsolationLevel.STRONG, Path(folder) / "sandbox")
        interpreter = Interpreter(Path(sys.executable), sys.version_info[:3], mounts.interpreter())
        runtime = Runtime(sandbox, bare_environment(interpreter))
        for right, wrong, unit in tasks:
            found = await judge(_case(language, right, wrong, unit, runtime))
            seen += found.verdict is Ruling.FAIL
            started = time.perf_counter()
            same = await judge(_case(language, right, right, unit, runtime))
            seconds.append(time.perf_counter() - started)
            alarms += same.verdict is Ruling.FAIL
            unsure += same.verdict not in (Ruling.FAIL, Ruling.PASS)
        await sandbox.close()
    return seen, alarms, unsure, seconds


def _case(language: str, before: str, after: str, unit: str, runtime: Runtime) -> Case:
    return Case("refactor", language, None, Source(before), Source(after), unit, runtime=runtime)


def _planted(folder: str) -> Iterator[Task]:
    file = Path(os.environ.get("DATA", ".")) / folder / "humanevalpack.jsonl"
    for line in file.read_text(encoding="utf-8").splitlines() if file.is_file() else ():
        row = json.loads(line)
        right, wrong = (row["prompt"] + row[name] for name in ("canonical_solution", "buggy_solution"))
        yield right, wrong, row["entry_point"]


def _tasks() -> Iterator[Task]:
    found = list(_planted("python")) or list(_planted("."))
    if found:
        yield from found
        return
    import statistics as numbers

    for function in (textwrap.dedent, numbers.median, textwrap.indent, textwrap.shorten):
        text = f"import re\n\n\n{inspect.getsource(sys.modules[function.__module__])}"
        for mutant in mutants_of(text, function.__name__, most=6):
            yield text, mutant.text, function.__name__

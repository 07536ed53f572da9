"""Planning and routing of a task without the model: seven steps, a project of 40 files, 10,000 jobs in the ledger. And
how soon a cancelled task is quiet, whose steps run a command and stream a reply.

All of a job whose plan is given counts: reading the project, the checks of the plan, the routes, the record. Next to
the time that passed is that of this process' processors: on a busy machine the difference is other people's.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from bench.context import STDLIB
from bench.row import Row
from support.engine import Bench
from support.servers.scripted import Reply, ScriptedModel

from stet_ls.engine.api.plan import TaskOptions
from stet_ls.engine.api.request import Workspace
from stet_ls.engine.job.ledger import LedgerEntry, now
from stet_ls.engine.storage.paths import user_paths

RUNS, FILES, STEPS, JOBS, CANCELS = 20, 40, 7, 10_000, 10


def rows() -> Iterator[Row]:
    """The first plan of a process, and the median of the next ones."""
    with tempfile.TemporaryDirectory() as folder, ScriptedModel() as model:
        os.environ["XDG_DATA_HOME"] = f"{folder}/data"
        root = _project(Path(folder) / "project")
        _ledger(user_paths().ledger)
        first, *others = asyncio.run(_planned(root, model))
        for what, runs in (("first in a process", [first]), (f"median of {RUNS}", others)):
            passed, used = (statistics.median(each) * 1000 for each in zip(*runs, strict=True))
            number = f"{passed / STEPS:.1f} ms a step, {used / STEPS:.1f} of CPU"
            yield Row(f"plan and route {STEPS} steps, {what}", number, "50 ms a step")
        seconds, late, left = asyncio.run(_cancelled(root, model))
        number = f"{statistics.median(seconds) * 1000:.0f} ms, at most {max(seconds) * 1000:.0f}"
        yield Row(f"a cancelled task is quiet, median of {CANCELS}", number, "200 ms")
        yield Row("events after that, and processes that are left", f"{late} and {left}", "0 and 0")


def _project(root: Path) -> Path:
    """A folder with real files."""
    root.mkdir()
    sources = [path for path in sorted(STDLIB.glob("*.py")) if 10_000 < path.stat().st_size < 40_000]
    for path in sources[:FILES]:
        shutil.copyfile(path, root / path.name)
    return root


def _ledger(folder: Path) -> None:
    """The ledger of a busy month."""
    folder.mkdir(parents=True)
    lines = [
        json.dumps(asdict(LedgerEntry(now(), f"{number}", "refactor", "m", "offered", 2, 1500, 400, 0.001, 4.2)))
        for number in range(JOBS)
    ]
    (folder / f"{now()[:7]}.jsonl").write_text("\n".join(lines) + "\n")


async def _planned(root: Path, model: ScriptedModel) -> list[tuple[float, float]]:
    """The seconds of each run: passed, and of the processors."""
    first, *others = sorted(root.glob("*.py"))
    steps = [f"{at}. generate | {path.name} | added_{at} | add a check" for at, path in enumerate(others[:STEPS], 1)]
    options = TaskOptions(plan="# Plan: checks\n" + "\n".join(steps), plan_only=True)
    found = []
    async with Bench(model) as bench:
        for _ in range(RUNS + 1):
            began, used = time.perf_counter(), time.process_time()
            answer = await bench.run(
                "task", "$0" + first.read_text(), path=first, workspace=Workspace((root,)),
                instruction="check every argument of the functions", task=options,
            )  # fmt: skip
            found.append((time.perf_counter() - began, time.process_time() - used))
            assert answer.success, answer.message
    return found


async def _cancelled(root: Path, model: ScriptedModel) -> tuple[list[float], int, int]:
    """The seconds from each cancel until the task has ended; later events; processes that are left."""
    model.default = Reply("so ", mode="endless", delay=0.01)
    first, second, *_ = sorted(root.glob("*.py"))
    plan = (
        f"# Plan: both\n1. run | - | - | python3 -c 'import time; time.sleep(1000)'\n"
        f"2. generate | {second.name} | added | add it\n  - needs: none\n"
    )
    seconds, late = [], 0
    before = _children()
    async with Bench(model) as bench:
        for _ in range(CANCELS):
            asked = len(model.requests)
            task = asyncio.create_task(
                bench.run(
                    "task", "$0" + first.read_text(), path=first, workspace=Workspace((root,)), instruction="both",
                    task=TaskOptions(plan=plan),
                )
            )  # fmt: skip
            await asyncio.to_thread(model.wait_request, asked + 1)
            while not any(SLEEPER in _command(child) for child in _children()):
                await asyncio.sleep(0.01)
            began = time.perf_counter()
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            seconds.append(time.perf_counter() - began)
            events = len(bench.events)
            await asyncio.sleep(0.5)
            late += len(bench.events) - events
        left = sum(SLEEPER in _command(child) for child in _children() - before)
    return seconds, late, left


SLEEPER = b"time.sleep(1000)"


def _children() -> set[Path]:
    """The processes of this machine."""
    return set(Path("/proc").glob("[0-9]*"))


def _command(process: Path) -> bytes:
    try:
        return (process / "cmdline").read_bytes()
    except OSError:
        return b""

"""What analyze costs before a model is asked: everything that tools measure about one text."""

from __future__ import annotations

import asyncio
import sysconfig
import time
from collections.abc import Iterator
from pathlib import Path

from bench.row import Row

from stet_ls.engine.api.budget import Budget
from stet_ls.engine.api.request import Request
from stet_ls.engine.run import Engine
from stet_ls.engine.settings.schema import ModelSettings, Settings
from stet_ls.engine.storage.paths import user_paths
from stet_ls.validators.source import Source

STDLIB = Path(sysconfig.get_path("stdlib"))


def rows() -> Iterator[Row]:
    """A row for a file as people write them, and one for a large one; the best of three runs."""
    usual = (STDLIB / "shlex.py").read_text("utf-8")
    large = "\n".join((STDLIB / f"{name}.py").read_text("utf-8") for name in ("_pydecimal", "turtle"))
    for text, goal in ((usual, "-"), (large, "a few seconds")):
        lines = text.count("\n")
        yield Row(f"analyze, measured part, {lines:,} lines", f"{asyncio.run(_seconds(text)):.2f} s", goal)


async def _seconds(text: str) -> float:
    engine = Engine(Settings(model=ModelSettings(embedded="off", discover=False)), user_paths())
    took = []
    for run in range(3):
        # A text of its own each time: verdicts are remembered by content.
        request = Request("analyze", "python", Source(f"{text}\n# {run}\n"), budget=Budget.QUICK)
        started = time.perf_counter()
        await engine.run(request)
        took.append(time.perf_counter() - started)
    await engine.close()
    return min(took)

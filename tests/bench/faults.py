"""A thousand jobs in front of servers that misbehave at random: what they left behind. Takes five minutes and more."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Iterator

from bench.row import Row
from support.soak import soak

JOBS = {(0.5,): 200, (0.3, 0.5): 200, (0.2, 0.3, 0.6): 1000}
"""By the share of right answers of each endpoint."""


def rows() -> Iterator[Row]:
    """One row for each number of endpoints."""
    before = os.environ.get("STET_HOME")
    for healths, jobs in JOBS.items():
        with tempfile.TemporaryDirectory() as home:
            os.environ["STET_HOME"] = home
            report = asyncio.run(soak(jobs, seed=1, healths=healths))
        what = f"{jobs} jobs, random faults, {len(healths)} endpoint{'s' if len(healths) > 1 else ''}"
        outcomes = ", ".join(f"{count} {name}" for name, count in report.outcomes.most_common())
        yield Row(f"{what}: outcomes", outcomes, f"{jobs} in all")
        yield Row(f"{what}: wrong edits", str(len(report.wrong)), "0")
        yield Row(f"{what}: tasks, descriptors left", f"{report.tasks_left}, {report.files_left}", "0, 0")
        yield Row(f"{what}: memory of the second half", f"{report.memory_grown:.1f} MB", "<= 30 MB")
    os.environ.pop("STET_HOME")
    if before is not None:
        os.environ["STET_HOME"] = before

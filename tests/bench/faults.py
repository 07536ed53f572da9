"""Ten minutes of a real server before a busy user and models that misbehave at random, and a thousand jobs besides.

FAULTS_MINUTES says how long the first part takes (10); the second takes five minutes and more.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.row import Row
from support.servers.load.siege import Outcome, Siege
from support.servers.load.soak import soak

JOBS = {(0.5,): 200, (0.3, 0.5): 200, (0.2, 0.3, 0.6): 1000}
"""By the share of right answers of each endpoint."""

ROUND_SECONDS = 60.0
CAPS = (2_000_000, 120_000)
"""Tokens of a day, in turn: one that is never reached, and one that ends the round's spending halfway."""


def rows() -> Iterator[Row]:
    """Rows of the siege, then rows for each number of endpoints."""
    yield from _siege(float(os.environ.get("FAULTS_MINUTES", "10")))
    yield from _soak()


def _siege(minutes: float) -> Iterator[Row]:
    total = Outcome()
    for turn in range(max(1, round(minutes * 60 / ROUND_SECONDS))):
        with tempfile.TemporaryDirectory() as home:
            seconds, cap = min(ROUND_SECONDS, minutes * 60), CAPS[turn % len(CAPS)]
            total.add(asyncio.run(Siege(Path(home), seed=turn + 1, seconds=seconds, cap=cap).run()))
    what = f"siege of {minutes:g} minutes"
    ends = ", ".join(f"{count} {name}" for name, count in total.statuses.most_common())
    yield Row(f"{what}: jobs, requests", f"{total.jobs} ({ends}), {total.requests}")
    yield Row(f"{what}: edits applied, broken promises", f"{total.applied}, {len(total.wrong)}", "0 broken")
    yield from (Row("  broken", problem[:300], "none") for problem in total.wrong[:20])
    scanned = f"{total.secrets_planted} in {total.secrets_scanned / 1e6:.1f} MB"
    yield Row(f"{what}: secrets planted, looked for", scanned, "none found")
    spent = f"{total.claimed:,} told, {total.booked:,} booked"
    yield Row(f"{what}: tokens", spent, f"<= {total.cap:,} ({total.capped} jobs refused)")
    yield Row(f"{what}: slowest job, answer", f"{total.slowest_job:.1f} s, {total.slowest_answer:.2f} s", "no hang")
    yield Row(f"{what}: largest server", f"{total.memory:.0f} MB")


def _soak() -> Iterator[Row]:
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

"""Hundreds of jobs in front of servers that misbehave at random. `tests/bench/faults.py` does thousands."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from support.servers.load.soak import soak

pytestmark = pytest.mark.usefixtures("stet_home")


@pytest.mark.parametrize(
    ("jobs", "healths"), [(60, (0.5,)), (80, (0.3, 0.5)), (160, (0.2, 0.3, 0.6))], ids=["one", "two", "three"]
)
@pytest.mark.timeout(400)
async def test_random_faults_leave_no_resources_and_no_wrong_edit(jobs: int, healths: Sequence[float]) -> None:
    report = await soak(jobs, seed=20, healths=healths)
    assert report.wrong == []
    assert sum(report.outcomes.values()) == jobs, "every job came to something"
    assert (report.tasks_left, report.files_left) == (0, 0)
    assert report.memory_grown < 30
    assert report.slowest < 60
    assert report.outcomes["offered"] > jobs * 0.3

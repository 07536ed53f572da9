"""The first jobs of `make bench ONLY=faults`: models that misbehave at random, and a user who is never still."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.servers.load.siege import Siege


@pytest.mark.timeout(400)
@pytest.mark.parametrize(("jobs", "cap", "capped"), [(40, 5_000_000, False), (40, 6_000, True)], ids=["free", "capped"])
async def test_no_fault_hangs_misleads_leaks_or_overspends(stet_home: Path, jobs: int, cap: int, capped: bool) -> None:
    outcome = await Siege(stet_home, seed=5, seconds=0, jobs=jobs, cap=cap).run()

    assert outcome.wrong == []
    assert outcome.jobs >= jobs
    assert outcome.secrets_planted > 10
    assert (outcome.capped > 0) is capped
    if not capped:
        assert outcome.applied > 5, "models that are right now and then bring edits"

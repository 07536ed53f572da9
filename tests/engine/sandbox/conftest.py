"""The boxes of this machine; without any, tests that need one are skipped and say so."""

from __future__ import annotations

from pathlib import Path

import pytest

from stet_ls.engine.sandbox.backends.backend_discovery import bwrap_programs
from stet_ls.engine.sandbox.backends.bwrap import Bwrap
from stet_ls.engine.sandbox.sandbox import Sandbox

PROGRAMS = {str(path): path for path in bwrap_programs()} or {"": None}


@pytest.fixture(params=PROGRAMS)
async def box(request: pytest.FixtureRequest, sandbox: Sandbox) -> Bwrap:
    """Each bwrap that is installed: the system's and the one of the extra."""
    if not request.param:
        pytest.skip("no bwrap is installed")
    candidates = await sandbox.candidates()
    candidate = candidates[list(PROGRAMS).index(request.param)]
    if candidate.backend is None:
        pytest.skip(f"bwrap does not work here: {candidate.report.why_not_stronger}")
    assert isinstance(candidate.backend, Bwrap)
    return candidate.backend


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder for what a sandbox keeps, its user's own."""
    made = tmp_path / "sandbox"
    made.mkdir(mode=0o700)
    return made

"""All runners, the preferred one of each language first."""

from __future__ import annotations

from collections.abc import Sequence

from stet_ls.engine.sandbox.runners.pytest_runner import Pytest
from stet_ls.engine.sandbox.runners.run import Runner

RUNNERS: Sequence[Runner] = (Pytest(),)

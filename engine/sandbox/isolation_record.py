"""A sandbox that reports the isolation of each run, so that an answer can state it for its code."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from stet_ls.engine.sandbox.isolation import IsolationReport
from stet_ls.engine.sandbox.sandbox import Sandbox
from stet_ls.engine.sandbox.spec import RunResult, RunSpec, RunStatus

_NOT_RUN = frozenset({RunStatus.NO_RUNNER, RunStatus.REFUSED})


@dataclass(frozen=True, slots=True)
class RecordingBox:
    """Runs commands in `sandbox` and passes the report of each run's sandbox to `ran`."""

    sandbox: Sandbox
    ran: Callable[[IsolationReport], None]

    async def run(self, spec: RunSpec) -> RunResult:
        """Runs `spec`, as `Sandbox.run` does. A cancelled run counts as run too."""
        best = await self.sandbox.best(overlay=spec.overlay is not None)
        try:
            result = await self.sandbox.run(spec)
        except asyncio.CancelledError:
            if best is not None:
                self.ran(best.report)
            raise
        if result.status not in _NOT_RUN:
            self.ran(result.isolation)
        return result

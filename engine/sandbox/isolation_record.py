"""A sandbox that tells of each run how well it was walled in: an answer says so of the code that it ran."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from stet_ls.engine.sandbox.isolation import IsolationReport
from stet_ls.engine.sandbox.sandbox import Sandbox
from stet_ls.engine.sandbox.spec import RunResult, RunSpec, RunStatus

_NOT_RUN = frozenset({RunStatus.NO_RUNNER, RunStatus.REFUSED})


@dataclass(frozen=True, slots=True)
class Recorded:
    """Runs commands in `sandbox` and hands the report of each box in which something ran to `ran`."""

    sandbox: Sandbox
    ran: Callable[[IsolationReport], None]

    async def run(self, spec: RunSpec) -> RunResult:
        """Runs `spec`, as `Sandbox.run` does. A run that is given up has run, too."""
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

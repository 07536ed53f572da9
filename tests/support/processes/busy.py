"""A machine that is too busy for some runs: it does them and gives them no time to come to their end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from stet_ls.engine.sandbox.sandbox import Sandbox
from stet_ls.engine.sandbox.spec import RunResult, RunSpec, RunStatus


def too_busy_for(monkeypatch: pytest.MonkeyPatch, chosen: Callable[[RunSpec], bool]) -> None:
    """Whatever box the chosen runs are done in, they end as they do after too long a wait for a core."""
    honest = Sandbox.run

    async def run(self: Sandbox, spec: RunSpec, **more: Any) -> RunResult:
        result = await honest(self, spec, **more)
        return replace(result, status=RunStatus.STARVED, exit=None, report=b"") if chosen(spec) else result

    monkeypatch.setattr(Sandbox, "run", run)

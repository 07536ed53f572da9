"""Here checkers, formatters, boxes and writers of records are real, and not waited for in haste."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from support.engine import Bench
from support.processes.tool_timeouts import patient_with_tools
from support.servers.scripted import ScriptedModel

from stet_ls.engine.sandbox.isolation import IsolationLevel
from stet_ls.engine.sandbox.sandbox import Sandbox
from stet_ls.engine.trace import record_store

__all__ = ["patient_with_tools"]


@pytest.fixture(autouse=True)
def patient_with_records(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that is closed has its records written, however busy the machine is."""
    monkeypatch.setattr(record_store, "_CLOSING_SECONDS", 60.0)


@pytest.fixture
def sandbox(probes: Path) -> Sandbox:
    return Sandbox(IsolationLevel.STRONG, probes)


@pytest.fixture
async def bench(scripted: ScriptedModel, stet_home: Path) -> AsyncIterator[Bench]:
    """An engine on the scripted model."""
    async with Bench(scripted) as bench:
        yield bench

"""The interface of a test runner."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from stet_ls.engine.runners.plan import TestPlan
from stet_ls.engine.runners.report_channel import Event
from stet_ls.engine.runners.reporter_events import ReporterEvents
from stet_ls.engine.sandbox.spec import RunSpec


class Runner(Protocol):
    """One way to run tests. It starts nothing: it describes the run, and reads the report."""

    name: str
    install: str

    def fits(self, plan: TestPlan) -> bool:
        """True if it can run the plan's tests; decides if a language has several runners."""
        ...

    def prepare(self, plan: TestPlan, nonce: str) -> RunSpec:
        """The run, without the plan's own files and overlay. Raises MissingToolError."""
        ...

    def read(self, plan: TestPlan, events: Sequence[Event], nonce: str) -> ReporterEvents:
        """The findings in the events."""
        ...

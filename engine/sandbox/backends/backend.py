"""What a backend is: something that runs a command in a box, and tells how good the box is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from stet_ls.engine.sandbox.isolation import IsolationReport, Wall
from stet_ls.engine.sandbox.spec import RunResult, RunSpec


class Backend(Protocol):
    """One way to build a box on this machine."""

    @property
    def name(self) -> str:
        """How reports call it."""

    @property
    def report(self) -> IsolationReport:
        """How well a run is walled in; level none until a probe found more."""

    @property
    def overlays(self) -> bool:
        """True if it shows a workspace without copying it."""

    async def run(self, spec: RunSpec) -> RunResult:
        """Runs it; nothing of it is left on return, however that comes.

        Raises BoxError if the box does not stand, ValueError for a spec that shows too much.
        """


@dataclass(frozen=True, slots=True)
class ProbedBackend:
    """A backend with what was found out about it; `backend` is None where it does not work at all.

    `partly` are walls which no probe can show whole, each with its gap.
    """

    report: IsolationReport
    backend: Backend | None
    partly: Mapping[Wall, str] = field(default_factory=dict)

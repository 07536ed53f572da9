"""The interface of a backend: it runs a command in a sandbox and reports how strong the sandbox is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from stet_ls.engine.sandbox.isolation import IsolationReport, Wall
from stet_ls.engine.sandbox.spec import RunResult, RunSpec


class Backend(Protocol):
    """One way to build a sandbox on this machine."""

    @property
    def name(self) -> str:
        """Name used in reports."""

    @property
    def report(self) -> IsolationReport:
        """The isolation of its runs; level none until a probe has shown more."""

    @property
    def overlays(self) -> bool:
        """True if it shows a workspace without copying it."""

    async def run(self, spec: RunSpec) -> RunResult:
        """Runs `spec`; no process or file of the run is left when this returns or raises.

        Raises BoxError if the sandbox cannot be built, ValueError for a spec that shows too much.
        """


@dataclass(frozen=True, slots=True)
class ProbedBackend:
    """A backend with the results of its probe; `backend` is None if it does not work.

    `partly` maps the walls that no probe can verify fully to their gaps.
    """

    report: IsolationReport
    backend: Backend | None
    partly: Mapping[Wall, str] = field(default_factory=dict)

"""Where and with what a candidate's code may run."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path

from stet_ls.engine.models import Workspace
from stet_ls.engine.sandbox.environments.interpreter import Environment
from stet_ls.engine.sandbox.runners.report import TestReport
from stet_ls.engine.sandbox.sandbox import Sandbox


@dataclass(frozen=True, slots=True)
class Runtime:
    """The sandbox, the user's Python, the workspace with its unsaved buffers, and the moment by which all is done.

    `until` is on the clock of `time.monotonic`; a judge that comes too late says so.
    """

    sandbox: Sandbox
    python: Environment
    workspace: Workspace = field(default_factory=Workspace)
    until: float = float("inf")
    reports: dict[object, TestReport] = field(default_factory=dict, compare=False, repr=False)
    """What tests told of texts that stay the same through a job, by a key of the judge's own."""

    def left(self) -> float:
        """Seconds that judges may still take."""
        return self.until - time.monotonic()

    def root_of(self, path: Path | None) -> Path | None:
        """The innermost open folder that holds a file."""
        holding = [root for root in self.workspace.roots if path is not None and path.is_relative_to(root)]
        return max(holding, key=lambda root: len(root.parts), default=None)

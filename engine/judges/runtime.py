"""Where and with what a candidate's code may run."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stet_ls.engine.models import Workspace

if TYPE_CHECKING:
    from stet_ls.engine.sandbox.environments.interpreter import Environment
    from stet_ls.engine.sandbox.sandbox import Sandbox


@dataclass(frozen=True, slots=True)
class Runtime:
    """The sandbox, the user's Python, the workspace with its unsaved buffers, and the moment by which all is done.

    `python` is None where none was looked for or none works; `why_no_python` says which. `until` is on the clock of
    `time.monotonic`; a judge that comes too late says so. `reports` keeps what tests of the text before came to, for
    the next candidate of the same job.
    """

    sandbox: Sandbox
    python: Environment | None
    workspace: Workspace = field(default_factory=Workspace)
    until: float = float("inf")
    why_no_python: str = ""
    reports: dict[Any, Any] = field(default_factory=dict, compare=False)

    def left(self) -> float:
        """Seconds that judges may still take."""
        return self.until - time.monotonic()

    def root_of(self, path: Path | None) -> Path | None:
        """The innermost open folder that holds a file."""
        holding = [root for root in self.workspace.roots if path is not None and path.is_relative_to(root)]
        return max(holding, key=lambda root: len(root.parts), default=None)

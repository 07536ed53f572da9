"""Where and with what a candidate's code may run."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stet_ls.engine.api.request import Workspace
from stet_ls.engine.execution.language_table import for_language

if TYPE_CHECKING:
    from stet_ls.engine.runners.captured_calls import CapturedCalls
    from stet_ls.engine.sandbox.environments.interpreter import Environment
    from stet_ls.engine.sandbox.spec import Box


@dataclass(frozen=True, slots=True)
class MissingModules:
    """Top-level modules that a code imports and that could not be installed; `why` is a sentence with the remedy."""

    modules: frozenset[str] = frozenset()
    why: str = ""


Fitting = Callable[["Environment", tuple[str, ...]], Awaitable["tuple[Environment, MissingModules]"]]
"""An environment with the packages that texts import, and those that are missing."""


class RunExtent(StrEnum):
    """What a job's budget lets judges run. BRIEF: examples and comparisons, which take less than a second."""

    BRIEF = "brief"
    FULL = "full"


@dataclass(frozen=True, slots=True)
class Runtime:
    """The sandbox, the user's Python, the workspace with its unsaved buffers, and the deadline.

    `python` is None if none was searched or none works; `why_no_python` says which. `missing_packages` are the packages
    that the code imports and that could not be installed. `until` is on the clock of `time.monotonic`; a judge that
    misses it reports that. `reports` caches the test reports of the text before, for the next candidate of
    the same job. `captured` are the calls that the tests made of a file's text before, once they ran.
    """

    sandbox: Box
    python: Environment | None
    workspace: Workspace = field(default_factory=Workspace)
    until: float = float("inf")
    why_no_python: str = ""
    missing_packages: MissingModules = MissingModules()
    provision: Fitting | None = field(default=None, compare=False, repr=False)
    extent: RunExtent = RunExtent.FULL
    reports: dict[Any, Any] = field(default_factory=dict, compare=False)
    captured: dict[tuple[Path, str], CapturedCalls] = field(default_factory=dict, compare=False)

    def left(self) -> float:
        """Seconds that judges may still take."""
        return self.until - time.monotonic()

    async def fit(self, *texts: str) -> Runtime:
        """The runtime with the packages that Python texts import, and the workspace's modules after them.

        The time for that does not count against the judges.
        """
        if self.python is None or self.provision is None:
            return self
        began = time.monotonic()
        python, lacking = await self.provision(self.python, texts)
        return replace(self, python=python, missing_packages=lacking, until=self.until + time.monotonic() - began)

    async def fit_language(self, language: str, *texts: str) -> Runtime:
        """The runtime for texts of a language: fitted to them if it needs an interpreter, else unchanged."""
        return await self.fit(*texts) if for_language(language).needs_interpreter else self

    def environment(self, language: str) -> Environment | None:
        """The environment for code of a language; None if it needs no interpreter, or none was found."""
        return self.python if for_language(language).needs_interpreter else None

    def lacks_interpreter(self, language: str) -> bool:
        """True if code of a language cannot run because there is no interpreter."""
        return for_language(language).needs_interpreter and self.python is None

    def excuse(self, lacks: str) -> str:
        """Why a run could not import the module `lacks`, if the code is not at fault; else ""."""
        if lacks and self.extent is RunExtent.BRIEF:
            return f"`{lacks}` is not installed, and the budget `quick` installs nothing"
        lacking = self.missing_packages
        return f"environment: {lacking.why.rstrip('.')}" if lacks.partition(".")[0] in lacking.modules else ""

    def unsaved(self, root: Path, path: Path) -> dict[str, bytes]:
        """The open texts below `root` by their paths in it, without that of the file `path`."""
        return {
            each.path.relative_to(root).as_posix(): each.text.encode("utf-8", "surrogatepass")
            for each in self.workspace.buffers
            if each.path.is_relative_to(root) and each.path != path
        }

    def root_of(self, path: Path | None) -> Path | None:
        """The innermost open folder that contains a file."""
        return self.workspace.root_of(path)

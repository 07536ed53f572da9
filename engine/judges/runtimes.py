"""Makes what candidates run with: one sandbox, and the Pythons that were found, for as long as an engine lives."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from stet_ls.engine.errors import StetError
from stet_ls.engine.judges.runtime import Runtime
from stet_ls.engine.models import Request
from stet_ls.engine.paths import Paths
from stet_ls.engine.sandbox.environments.detect import Detector
from stet_ls.engine.sandbox.environments.interpreter import own
from stet_ls.engine.sandbox.isolation import Level
from stet_ls.engine.sandbox.sandbox import Sandbox
from stet_ls.engine.settings import Settings


class Runtimes:
    """The sandbox of an engine and its interpreters. Nothing is probed or looked for before the first runtime."""

    def __init__(self, settings: Settings, paths: Paths) -> None:
        self._setting = settings.sandbox.python
        self.sandbox = Sandbox(Level(settings.sandbox.minimum_level), paths.cache / "sandbox")
        self._detector = Detector(self.sandbox)

    async def runtime(self, request: Request, until: float) -> Runtime:
        """What a request's code may run with until a moment. What does not work is told by the judge that needs it."""
        runtime = Runtime(self.sandbox, None, request.workspace, until)
        if request.language != "python":
            return runtime
        root = runtime.root_of(request.path) or (request.path.parent if request.path else Path.home())
        try:
            found = await self._detector.find(root, setting=self._setting)
        except (StetError, OSError, ValueError) as error:
            return replace(runtime, why_no_python=f"no code may run here: {error}")
        if found.interpreter is None:
            return replace(runtime, why_no_python=found.why_none())
        return replace(runtime, python=own(found.interpreter))

    async def close(self) -> None:
        """Lets go of boxes that were built ahead."""
        await self.sandbox.close()

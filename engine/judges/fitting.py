"""An environment that has what a code imports: the user's own, else one of Stet's with the packages that it lacks."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

from stet_ls.engine.errors import StetError
from stet_ls.engine.prompt.index.walk import Limits, Walk
from stet_ls.engine.sandbox.environments.build import Fresh
from stet_ls.engine.sandbox.environments.gate import Ask, Gate
from stet_ls.engine.sandbox.environments.interpreter import Environment
from stet_ls.engine.sandbox.environments.names import Imports, imports, missing
from stet_ls.engine.sandbox.environments.requirements import dependencies
from stet_ls.engine.sandbox.environments.store import Store
from stet_ls.engine.settings import SandboxSettings

STAGE = "environment"
"""What a job is at while packages are unpacked."""

_FAILED_SECONDS = 300.0
"""So long what could not be had is not tried again: no network is no network for the next candidate either."""
_LOOK = Limits(files=3_000, entries=10_000, seconds=0.5)
"""How far a workspace is searched for a module before somebody is asked about a package of its name."""


@dataclass(frozen=True, slots=True)
class Helper:
    """What a job lends: `held` keeps environments until it ends, `stage` shows what it is at, `warn` adds a warning."""

    held: AsyncExitStack
    stage: Callable[[str, str], AbstractContextManager[None]]
    warn: Callable[[str], None]


@dataclass
class Fitter:
    """Builds environments with the user's settings. `ask` is asked about packages that nobody vouches for."""

    settings: SandboxSettings
    store: Store
    ask: Ask
    _failed: dict[tuple[str, tuple[str, ...]], tuple[float, str]] = field(default_factory=dict)

    async def fit(
        self, root: Path, path: Path | None, helper: Helper, python: Environment, texts: tuple[str, ...]
    ) -> tuple[Environment, str]:
        """`python`, or an environment with the packages that the texts import too; and why some are not there."""
        lacking = await asyncio.to_thread(_lacking, root, path, python, texts)
        if not lacking:
            return python, ""
        modules = ", ".join(sorted(lacking))
        project = await asyncio.to_thread(dependencies, root)
        gate = Gate(project, frozenset(self.settings.packages), ask=self.ask)
        interpreter = python.interpreter
        try:
            wanted = await gate.requirements(Imports(lacking), interpreter.distributions)
        except StetError as error:
            return python, str(error)
        wanted = tuple(sorted({*wanted, *python.requirements}))
        known = self._failed.get((interpreter.stamp, wanted))
        if known is not None and time.monotonic() < known[0]:
            return python, known[1]
        fresh = Fresh(self.settings.package_days, frozenset(project))
        try:
            with helper.stage(STAGE, ", ".join(wanted)):
                fitted = await helper.held.enter_async_context(self.store.use(interpreter, wanted, fresh=fresh))
        except (StetError, OSError) as error:
            self._failed[interpreter.stamp, wanted] = time.monotonic() + _FAILED_SECONDS, str(error)
            return python, str(error)
        helper.warn(f"Your Python does not have {modules}: the code was run with {', '.join(wanted)} in Stet's folder.")
        return fitted, ""


def _lacking(root: Path, path: Path | None, python: Environment, texts: tuple[str, ...]) -> frozenset[str]:
    """The modules that texts cannot do without, and that neither the environment nor the workspace has."""
    wanted = Imports()
    for text in texts:
        wanted |= imports(text)
    interpreter = python.interpreter
    found = missing(Imports(wanted.needed), interpreter.standard, interpreter.modules | python.modules, root).needed
    folders = [] if path is None else [each for each in path.parents if each.is_relative_to(root)]
    found = frozenset(name for name in found if not any(_stands(folder, name) for folder in folders))
    # One that lies elsewhere in the workspace is found by some setting of the project's; it is no package.
    return found - _elsewhere(root) if found else found


def _stands(folder: Path, module: str) -> bool:
    return (folder / f"{module}.py").is_file() or (folder / module).is_dir()


def _elsewhere(root: Path) -> frozenset[str]:
    names: set[str] = set()
    for found in Walk(root, limits=_LOOK).files():
        if found.language == "python":
            *folders, name = found.path.split("/")
            names.update((*folders, name.removesuffix(".py")))
    return frozenset(names)

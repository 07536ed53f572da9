"""Provides an environment with what a code imports: the user's own, or one of Stet's with the missing packages."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

from stet_ls.engine.errors import StetError
from stet_ls.engine.execution.language_table import for_language
from stet_ls.engine.execution.runtime import MissingModules
from stet_ls.engine.sandbox.environments.environment_store import EnvironmentStore
from stet_ls.engine.sandbox.environments.imported_modules import Imports, imports, missing
from stet_ls.engine.sandbox.environments.install_policy import Ask, InstallPolicy
from stet_ls.engine.sandbox.environments.interpreter import Environment
from stet_ls.engine.sandbox.environments.known_packages import distribution, normalized
from stet_ls.engine.sandbox.environments.requirements import dependencies
from stet_ls.engine.sandbox.environments.wheel_install import MinimumAge, PackagesError
from stet_ls.engine.sandbox.environments.workspace_imports import WorkspaceSources
from stet_ls.engine.sandbox.isolation import IsolationReport
from stet_ls.engine.settings.schema import SandboxSettings
from stet_ls.engine.workspace.source_files import SourceWalk, WalkLimits

STAGE = "environment"
"""The stage of a job while packages are unpacked."""

_FAILED_SECONDS = 300.0
"""The seconds before a failed installation is retried: without a network, the next candidate would fail too."""
_LOOK = WalkLimits(files=3_000, entries=10_000, seconds=0.5)
"""The limits of the search for a module in a workspace, before the user is asked about a package of its name."""


@dataclass(frozen=True, slots=True)
class JobResources:
    """What a job lends: `held` keeps environments until it ends, `stage` shows its stage, `warn` adds a warning.

    `wait` receives the seconds spent asking the user or unpacking packages, `ran` the sandbox of each run.
    """

    held: AsyncExitStack
    stage: Callable[[str, str], AbstractContextManager[None]]
    warn: Callable[[str], None]
    wait: Callable[[float], None] = field(default=lambda _: None)
    ran: Callable[[IsolationReport], None] = field(default=lambda _: None)


@dataclass
class EnvironmentProvisioner:
    """Builds environments with the user's settings. `ask` decides about unknown packages."""

    settings: SandboxSettings
    store: EnvironmentStore
    ask: Ask
    _failed: dict[tuple[str, tuple[str, ...]], tuple[float, str]] = field(default_factory=dict)

    async def fit(
        self,
        sources: WorkspaceSources,
        path: Path | None,
        helper: JobResources,
        python: Environment,
        texts: tuple[str, ...],
    ) -> tuple[Environment, MissingModules]:
        """`python`, or an environment with the packages that the texts at `path` also need; and those that are missing.

        A package that cannot be installed does not affect the project's other dependencies.
        """
        began = time.monotonic()
        modules = await asyncio.to_thread(_lacking, sources, path, python, texts)
        if not modules:
            return python, MissingModules()
        try:
            own = frozenset(name for text in texts for name in imports(text).needed)
            return await self._fitted(sources.root, helper, python, modules, own)
        finally:
            helper.wait(time.monotonic() - began)

    async def _fitted(
        self, root: Path, helper: JobResources, python: Environment, modules: frozenset[str], own: frozenset[str]
    ) -> tuple[Environment, MissingModules]:
        """An environment with the available modules; does not ask about modules that only other files import."""
        project = await asyncio.to_thread(dependencies, root)
        allowed = frozenset(self.settings.packages)
        installed = python.interpreter.distributions
        packages = {name: normalized(distribution(name, installed)) for name in modules}
        unasked = frozenset(
            name for name, package in packages.items() if InstallPolicy(project, allowed).passes(package)
        )
        declared = frozenset(name for name, package in packages.items() if package in project)
        why = ""
        for wanted in dict.fromkeys((modules, unasked | (own & modules), unasked, declared)):
            if not wanted:
                continue
            gate = InstallPolicy(project, allowed, ask=self.ask if wanted - unasked <= own else None)
            try:
                fitted = await self._environment(gate, helper, python, wanted)
            except (StetError, OSError) as error:
                why = why or str(error)
                continue
            helper.warn(
                f"Your Python does not have {', '.join(sorted(wanted))}, "
                f"so the code ran with {', '.join(fitted.requirements)} in Stet's folder."
            )
            break
        else:
            fitted, wanted = python, frozenset()
        if why:
            helper.warn(why)
        return fitted, MissingModules(modules - wanted, why)

    async def _environment(
        self, gate: InstallPolicy, helper: JobResources, python: Environment, modules: frozenset[str]
    ) -> Environment:
        """The environment with the packages of some modules. Raises StetError and OSError; failures are cached."""
        interpreter = python.interpreter
        wanted = await gate.requirements(Imports(modules), interpreter.distributions)
        wanted = tuple(sorted({*wanted, *python.requirements}))
        known = self._failed.get((interpreter.stamp, wanted))
        if known is not None and time.monotonic() < known[0]:
            raise PackagesError(known[1])
        fresh = MinimumAge(self.settings.package_days, frozenset(gate.project))
        try:
            with helper.stage(STAGE, ", ".join(wanted)):
                return await helper.held.enter_async_context(self.store.use(interpreter, wanted, fresh=fresh))
        except OSError as error:
            why = f"{', '.join(wanted)} not installed: cannot write Stet's folder ({error.strerror})."
            self._failed[interpreter.stamp, wanted] = time.monotonic() + _FAILED_SECONDS, why
            raise PackagesError(why) from None
        except StetError as error:
            self._failed[interpreter.stamp, wanted] = time.monotonic() + _FAILED_SECONDS, str(error)
            raise


def _lacking(
    sources: WorkspaceSources, path: Path | None, python: Environment, texts: tuple[str, ...]
) -> frozenset[str]:
    """The modules that the texts require, and that neither the environment nor the workspace has."""
    wanted, root = sources.imports(texts, path), sources.root
    interpreter = python.interpreter
    found = missing(Imports(wanted.needed), interpreter.standard, interpreter.modules | python.modules, root).needed
    folders = [] if path is None else [each for each in path.parents if each.is_relative_to(root)]
    found = frozenset(name for name in found if not any(_stands(folder, name) for folder in folders))
    # A module elsewhere in the workspace is found through the project's settings; it is not a package.
    return found - _elsewhere(root) if found else found


def _stands(folder: Path, module: str) -> bool:
    return (folder / f"{module}.py").is_file() or (folder / module).is_dir()


def _elsewhere(root: Path) -> frozenset[str]:
    names: set[str] = set()
    for found in SourceWalk(root, limits=_LOOK).files():
        if for_language(found.language).needs_interpreter:
            *folders, name = found.path.split("/")
            names.update((*folders, name.removesuffix(".py")))
    return frozenset(names)

"""Provides what candidates run with: one sandbox, and the Pythons found, for the lifetime of an engine."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from stet_ls.engine.errors import StetError
from stet_ls.engine.execution.language_table import for_language
from stet_ls.engine.sandbox.environments.environment_state import EnvironmentNeeds
from stet_ls.engine.sandbox.environments.interpreter import Interpreter, bare_environment
from stet_ls.engine.sandbox.environments.interpreter_detection import Detector
from stet_ls.engine.sandbox.environments.probe_cache import ProbeCache
from stet_ls.engine.sandbox.isolation import IsolationLevel, IsolationReport
from stet_ls.engine.sandbox.node_packages import node_packages
from stet_ls.engine.sandbox.sandbox import Sandbox

if TYPE_CHECKING:  # a kept conclusion of `stet verify` asks for an identity alone, and importing these takes longer
    from stet_ls.engine.api.request import Request
    from stet_ls.engine.execution.environment_provisioning import EnvironmentProvisioner, JobResources
    from stet_ls.engine.execution.runtime import Runtime
    from stet_ls.engine.settings.schema import Settings
    from stet_ls.engine.storage.paths import Paths

_MEGABYTE = 1024 * 1024


class PermissionAsker(Protocol):
    """Asks the user. Front ends without a user pass none, and the answer is no."""

    async def isolation(self, report: IsolationReport, needed: IsolationLevel) -> bool:
        """Whether code may run in a sandbox that is weaker than the settings require."""
        ...

    async def packages(self, names: tuple[str, ...]) -> bool:
        """Whether packages may be installed that are not the project's and not well known."""
        ...


class RuntimeProvider:
    """The sandbox of an engine and its interpreters. Nothing is probed or searched before the first runtime."""

    def __init__(self, settings: Settings, paths: Paths) -> None:
        own_settings = settings.sandbox
        self.asker: PermissionAsker | None = None
        self.verified = paths.verified
        """The folder for changes that `stet verify` has judged."""
        folder = paths.sandbox
        minimum = IsolationLevel(own_settings.minimum_level)
        self.sandbox = Sandbox(minimum, folder, backend=own_settings.backend, ask=self._may_run)
        self._detector = Detector(self.sandbox, ProbeCache(folder / "proofs.json", self.sandbox.identity))
        self._environments = paths.environments
        self._settings = own_settings
        self.interpreters: dict[Path, Interpreter] = {}
        """The interpreter last found for each workspace, for status reports."""

    @cached_property
    def _provisioner(self) -> EnvironmentProvisioner:
        from stet_ls.engine.execution.environment_provisioning import EnvironmentProvisioner
        from stet_ls.engine.sandbox.environments.environment_store import EnvironmentStore

        store = EnvironmentStore(self._environments, limit=self._settings.environments_mb * _MEGABYTE)
        return EnvironmentProvisioner(self._settings, store, self._may_install)

    async def runtime(self, request: Request, helper: JobResources) -> Runtime:
        """What a request's code may run with. A judge that needs a missing part reports it."""
        from stet_ls.engine.execution.python.harness import warm_spec
        from stet_ls.engine.execution.runtime import Runtime
        from stet_ls.engine.sandbox.environments.workspace_imports import WorkspaceSources
        from stet_ls.engine.sandbox.isolation_record import RecordingBox

        runtime = Runtime(RecordingBox(self.sandbox, helper.ran), None, request.workspace)
        if not for_language(request.language).needs_interpreter:
            return runtime
        root = runtime.root_of(request.path) or (request.path.parent if request.path else Path.home())
        try:
            await self.sandbox.allow()
            found = await self._detector.find(root, setting=self._settings.python)
        except (StetError, OSError, ValueError) as error:
            return replace(runtime, why_no_python=f"code cannot run here: {error}")
        if found.interpreter is None:
            self.interpreters.pop(root, None)
            return replace(runtime, why_no_python=found.why_none())
        self.interpreters[root] = found.interpreter
        python = bare_environment(found.interpreter)
        await self.sandbox.build_ahead(warm_spec(python))
        sources = WorkspaceSources(root, {buffer.path: buffer.text for buffer in request.workspace.buffers})
        return replace(runtime, python=python, provision=partial(self._provisioner.fit, sources, request.path, helper))

    async def identity(self, root: Path, language: str) -> str:
        """Changes with the sandbox and the interpreter that code of a language runs with; "" if that is unknown."""
        row = for_language(language)
        if row.needs_interpreter:
            key = await self._python_key(root)
        else:
            key = await asyncio.to_thread(_program_key, row.program, root)
        return f"{key} {self.sandbox.minimum} {await self.sandbox.identity()}" if key else ""

    def needs(self, languages: Iterable[str]) -> EnvironmentNeeds | None:
        """What decides the identities of some languages, to be looked at without a sandbox; None if the user names a
        sandbox: a container engine's state is not in files.
        """
        programs = {for_language(each).program for each in languages}
        return None if self.sandbox.backend else EnvironmentNeeds(self._settings.python, tuple(sorted(programs - {""})))

    async def python_version(self, root: Path) -> str:
        """The version of the Python that code of a workspace runs with; "" if there is none."""
        found = await self._python(root)
        return ".".join(map(str, found.version)) if found else ""

    async def _python_key(self, root: Path) -> str:
        found = await self._python(root)
        return bare_environment(found).key if found else ""

    async def _python(self, root: Path) -> Interpreter | None:
        try:
            await self.sandbox.allow()
            return (await self._detector.find(root, setting=self._settings.python)).interpreter
        except (StetError, OSError, ValueError):
            return None

    async def close(self) -> None:
        """Releases sandboxes that were built ahead."""
        await self.sandbox.close()

    async def _may_run(self, report: IsolationReport, needed: IsolationLevel) -> bool:
        return self.asker is not None and await self.asker.isolation(report, needed)

    async def _may_install(self, names: tuple[str, ...]) -> bool:
        return self.asker is not None and await self.asker.packages(names)


def _program_key(name: str, root: Path) -> str:
    """Changes with the program of that name and the packages of a project that it may load; "" if there is none, or too
    much to look at.
    """
    from stet_ls.engine.runners.toolchain import MissingToolError, find

    try:
        found = find(name, install="") if name else None
    except MissingToolError:
        return ""
    if found is None:
        return ""
    status, packages = found.path.stat(), node_packages(root)
    return f"{found.path} {status.st_size} {status.st_mtime_ns} {packages}" if packages is not None else ""

"""The entry point of the package: the best sandbox of this machine, and the policy for its use."""

from __future__ import annotations

import asyncio
import contextlib
import json
import platform
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from stet_ls import __version__
from stet_ls.engine.errors import PolicyError, StetError
from stet_ls.engine.sandbox import install_advice, isolation_probe
from stet_ls.engine.sandbox.backends import reaper
from stet_ls.engine.sandbox.backends.backend import Backend, ProbedBackend
from stet_ls.engine.sandbox.backends.backend_discovery import BackendCandidate, candidates
from stet_ls.engine.sandbox.box_pool import BoxPool
from stet_ls.engine.sandbox.files import scratch
from stet_ls.engine.sandbox.files.overlay import OverlayFolders
from stet_ls.engine.sandbox.files.run_folder import RunFolder
from stet_ls.engine.sandbox.files.workspace_copy import WorkspaceCopies
from stet_ls.engine.sandbox.isolation import IsolationLevel, IsolationReport, Wall, WallState, level_of
from stet_ls.engine.sandbox.machine_state import boot, namespaces
from stet_ls.engine.sandbox.spec import BoxError, RunResult, RunSpec
from stet_ls.engine.storage.private_files import read_private, write_private
from stet_ls.engine.storage.writable import WriteObstacle

T = TypeVar("T")

_PROBED = "probed.json"
"""The file of probe results in the sandbox's folder."""

Ask = Callable[[IsolationReport, IsolationLevel], Awaitable[bool]]
"""Asks the user whether one run may proceed in a sandbox weaker than the required level."""


class Sandbox:
    """Runs commands in the best sandbox of this machine, or refuses.

    `minimum` and `backend` ("" for the best) are the user's; no project and no job lowers them. `folder` is private to
    the user and hidden from every sandbox. `ask` may let a single run proceed in a weaker sandbox; without it such a
    run is refused.
    """

    def __init__(self, minimum: IsolationLevel, folder: Path, *, backend: str = "", ask: Ask | None = None) -> None:
        self.minimum = minimum
        self._place = RunFolder(folder)
        self.backend = backend
        self._ask = ask
        self._tried: dict[str, ProbedBackend] = {}
        self._found: tuple[BackendCandidate, ...] | None = None
        self._lock = asyncio.Lock()
        self._pool = BoxPool(each=2, after=2)

    @property
    def obstacle(self) -> WriteObstacle | None:
        """Why runs use a temporary folder; None if they do not."""
        return self._place.obstacle

    async def run(self, spec: RunSpec) -> RunResult:
        """Runs `spec`. Raises PolicyError if the isolation is too weak, ValueError for an impossible spec.

        If a sandbox no longer works, all are probed again: the next one serves if its level is sufficient.
        """
        return await self._or_elsewhere(partial(self._run, spec))

    async def _run(self, spec: RunSpec) -> RunResult:
        overlay = spec.overlay is not None
        backend = await self._allow(overlay=overlay)
        try:
            result = await self._pool.run(backend, spec)
        except BoxError:
            await self._forget(backend)
            backend = await self._allow(overlay=overlay)
            result = await self._pool.run(backend, spec)
        best = await self.best(overlay=overlay)
        # Only this class knows why a stronger sandbox does not work; a run knows what it lacked itself.
        same = best is not None and best.backend is backend and result.isolation == backend.report
        return replace(result, isolation=best.report) if best is not None and same else result

    async def allow(self) -> Backend:
        """The sandbox of the next run. Raises PolicyError if the isolation is too weak."""
        return await self._or_elsewhere(partial(self._allow, overlay=False))

    async def _allow(self, *, overlay: bool) -> Backend:
        best = await self.best(overlay=overlay)
        report = best.report if best else no_backend_report(self.backend)
        if best is None or best.backend is None or not await self._may(report, self.minimum):
            raise PolicyError(refusal(report, self.minimum))
        return best.backend

    async def build_ahead(self, spec: RunSpec) -> None:
        """Has a sandbox built for a run like this, if allowed and supported; does not wait for it."""
        best = await self.best()
        if best is not None and best.backend is not None and best.report.level.reaches(self.minimum):
            await self._pool.ready(best.backend, spec)

    async def identity(self) -> str:
        """Identifies the sandbox of runs: its backend, its level, the boot and Stet's version."""
        best = await self.best()
        report = best.report if best else no_backend_report(self.backend)
        return f"{boot()} {platform.release()} {__version__} {report.backend} {report.version} {report.level}"

    async def close(self) -> None:
        """Discards the prebuilt sandboxes and a temporary folder."""
        await self._pool.close()
        if self._place.obstacle is not None:
            async with self._lock:
                await asyncio.to_thread(self._place.close)
                self._look_again()

    async def _or_elsewhere(self, work: Callable[[], Awaitable[T]]) -> T:
        """The result of `work`; repeated in another folder if the disk became full or read-only meanwhile."""
        place = self._place.folder
        try:
            return await work()
        except OSError as error:
            if not await self._left(place, error):
                raise
        return await work()

    async def _left(self, place: Path, error: OSError) -> bool:
        """True if `place`, where `error` occurred, is no longer in use: sandboxes are then made for another folder."""
        async with self._lock:
            in_use = self._place.folder
            left = await asyncio.to_thread(self._place.leave, place, error)
            if self._place.folder != in_use:
                self._look_again()
            return left

    def _look_again(self) -> None:
        """Detects backends again: the previous ones were made for a folder no longer in use."""
        self._found = None
        self._tried.clear()

    async def _may(self, report: IsolationReport, needed: IsolationLevel) -> bool:
        """Level none is no sandbox: only the user's own setting allows code to run there, without a question."""
        if report.level.reaches(needed):
            return True
        return report.level is not IsolationLevel.NONE and self._ask is not None and await self._ask(report, needed)

    async def best(self, *, overlay: bool = False) -> ProbedBackend | None:
        """The strongest candidate, the first of equals; for an `overlay` one that copies nothing comes first.

        Stops at the first that cannot be bettered.
        """
        best: ProbedBackend | None = None
        for found in await self._candidates():
            candidate = await self._examine(found)
            if best is None or _rank(candidate, overlay) > _rank(best, overlay):
                best = candidate
            if _rank(best, overlay) == (len(IsolationLevel) - 1, True):
                break
        if best is None or self.backend or best.report.level is IsolationLevel.FULL or best.report.advice:
            return best
        # The user needs to know why a stronger one does not work.
        stronger = (
            next((each.report for each in self._tried.values() if each.backend is None), None) or no_backend_report()
        )
        why = "; ".join(filter(None, (stronger.why_not_stronger, best.report.why_not_stronger)))
        report = replace(best.report, why_not_stronger=why, advice=stronger.advice)
        return replace(best, report=report)

    async def candidates(self) -> tuple[ProbedBackend, ...]:
        """Every backend that might serve here, probed; the results are kept until the next boot."""
        return tuple([await self._examine(found) for found in await self._candidates()])

    async def _candidates(self) -> tuple[BackendCandidate, ...]:
        async with self._lock:
            if self._found is None:
                self._found = await asyncio.to_thread(self._prepare)
            return self._found

    def _prepare(self) -> tuple[BackendCandidate, ...]:
        folder = self._place.open()
        OverlayFolders(folder / "layers").sweep()
        WorkspaceCopies(folder / "mirrors").sweep()
        scratch.sweep(folder / "runs")
        reaper.end_orphans()
        return tuple(candidates(folder, self.backend))

    async def _examine(self, found: BackendCandidate) -> ProbedBackend:
        async with self._lock:
            if found.key not in self._tried:
                self._tried[found.key] = await self._try(found)
            return self._tried[found.key]

    async def _forget(self, backend: Backend) -> None:
        """Drops the results of a sandbox that could not be built."""
        for found in await self._candidates():
            async with self._lock:
                if (tried := self._tried.get(found.key)) is not None and tried.backend is backend:
                    del self._tried[found.key]
                    self._remember(_key(found), None)

    async def _try(self, found: BackendCandidate) -> ProbedBackend:
        report = self._remembered(_key(found))
        try:
            if report is None or not await _works(found.build(report)):
                report = _report(found.report, await isolation_probe.attack(found.build(found.report), found.partly))
                self._remember(_key(found), report)
        except StetError as error:
            self._remember(_key(found), None)
            why = found.failure(str(error))
            return ProbedBackend(replace(found.report, why_not_stronger=why.why, advice=why.command), None)
        return ProbedBackend(report, found.build(report))

    def _remembered(self, key: str) -> IsolationReport | None:
        text = read_private(self._place.folder / _PROBED) or read_private(self._place.wanted / _PROBED)
        try:
            row: dict[str, Any] = json.loads(text or "{}")[key]
            enforced = {Wall(wall): WallState(holds) for wall, holds in row.pop("enforced").items()}
            return IsolationReport(**{**row, "level": IsolationLevel(row["level"]), "enforced": enforced})
        except (KeyError, TypeError, ValueError):
            return None

    def _remember(self, key: str, report: IsolationReport | None) -> None:
        """Stores a report for this boot; with None, drops the stored one."""
        path = self._place.folder / _PROBED
        try:
            known = json.loads(read_private(path) or "{}")
        except ValueError:
            known = {}
        boot = key.partition(" ")[0]
        kept = {other: row for other, row in known.items() if other.startswith(boot) and other != key}
        added = {key: report.to_json()} if report else {}
        if {**kept, **added} != known:
            with contextlib.suppress(OSError):  # the next start probes again
                write_private(path, json.dumps({**kept, **added}))


async def _works(backend: Backend) -> bool:
    """True if it still works: it may be forbidden since the last start, for example by AppArmor or in a container."""
    try:
        await backend.run(RunSpec(("true",)))
    except BoxError:
        return False
    return True


def _key(found: BackendCandidate) -> str:
    """What a probe's result depends on: the boot, the kernel and its namespace settings, Stet, the program."""
    machine = f"{boot()} {platform.release()} {namespaces()}"
    return f"{machine} {__version__} {isolation_probe.VERSION} {found.key}"


def _rank(candidate: ProbedBackend, overlay: bool) -> tuple[int, bool]:
    lays = not overlay or (candidate.backend is not None and candidate.backend.overlays)
    return list(IsolationLevel).index(candidate.report.level), lays


def no_backend_report(named: str = "") -> IsolationReport:
    """The report of a machine without any backend, or without the one that the user named."""
    if named:
        why = f"the configured sandbox backend {named} is not available"
        return IsolationReport("none", "", IsolationLevel.NONE, why_not_stronger=why)
    found = install_advice.without_any(platform.system())
    return IsolationReport("none", "", IsolationLevel.NONE, why_not_stronger=found.why, advice=found.command)


def refusal(report: IsolationReport, needed: IsolationLevel) -> str:
    """The sentence for a run that was refused."""
    why = f": {report.why_not_stronger}" if report.why_not_stronger else ""
    help_ = f" Try: {report.advice}" if report.advice else ""
    if needed is IsolationLevel.NONE:
        return f"No code ran: no sandbox is available here{why}.{help_}"
    return f"No code ran: isolation {needed} is required, and only {report.level} is available here{why}.{help_}"


def _report(found: IsolationReport, probed: isolation_probe.WallReport) -> IsolationReport:
    why = "; ".join(f"{wall}: {hole}" for wall, hole in probed.holes.items())
    return replace(found, level=level_of(probed.enforced), enforced=probed.enforced, why_not_stronger=why)

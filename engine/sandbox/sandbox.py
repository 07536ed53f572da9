"""The room's door: the best box of this machine, and the policy over it."""

from __future__ import annotations

import asyncio
import json
import platform
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from stet_ls import __version__
from stet_ls.engine.errors import PolicyError, StetError
from stet_ls.engine.sandbox import advice, orphans, probe, scratch
from stet_ls.engine.sandbox.backend import Backend, Candidate
from stet_ls.engine.sandbox.candidates import Found, candidates
from stet_ls.engine.sandbox.isolation import Holds, IsolationReport, Level, Wall, level_of
from stet_ls.engine.sandbox.layer import Layers
from stet_ls.engine.sandbox.mirror import Mirrors
from stet_ls.engine.sandbox.pool import Pool
from stet_ls.engine.sandbox.spec import RunResult, RunSpec
from stet_ls.engine.workers.private import private_folder, read_private, write_private

Ask = Callable[[IsolationReport, Level], Awaitable[bool]]
"""Asks the user whether one run may go ahead in a box that is weaker than they want."""


class Sandbox:
    """Runs commands in the best box that this machine has, or refuses.

    `minimum` and `backend` ("" for the best) are the user's; no project and no job lowers them. `folder` is private to
    the user and no box sees it. `ask` may let a single run go ahead in a weaker box; without it such a run is refused.
    """

    def __init__(self, minimum: Level, folder: Path, *, backend: str = "", ask: Ask | None = None) -> None:
        self.minimum = minimum
        self._folder = folder
        self.backend = backend
        self._ask = ask
        self._tried: dict[str, Candidate] = {}
        self._found: tuple[Found, ...] | None = None
        self._lock = asyncio.Lock()
        self._pool = Pool(each=2)

    async def run(self, spec: RunSpec, *, at_least: Level | None = None) -> RunResult:
        """Runs `spec`. Raises PolicyError where the isolation is too weak; ValueError for a spec that cannot be."""
        return await self._pool.run(await self.allow(at_least, overlay=spec.overlay is not None), spec)

    async def allow(self, at_least: Level | None = None, *, overlay: bool = False) -> Backend:
        """The box that a run would be done in. Raises PolicyError where the isolation is too weak."""
        needed = max(self.minimum, at_least or self.minimum, key=list(Level).index)
        best = await self.best(overlay=overlay)
        report = best.report if best else none_here(self.backend)
        if best is None or best.backend is None or not await self._may(report, needed):
            raise PolicyError(refusal(report, needed))
        return best.backend

    async def build_ahead(self, spec: RunSpec) -> None:
        """Has a box wait for a run like this, where boxes may run and can be built ahead; does not wait for the box."""
        best = await self.best()
        if best is not None and best.backend is not None and best.report.level.reaches(self.minimum):
            await self._pool.ready(best.backend, spec)

    async def identity(self) -> str:
        """Names the box that runs are done in, its level, the boot and Stet's version."""
        best = await self.best()
        report = best.report if best else none_here(self.backend)
        return f"{_boot()} {platform.release()} {__version__} {report.backend} {report.version} {report.level}"

    async def close(self) -> None:
        """Gives up the boxes that were built ahead."""
        await self._pool.close()

    async def _may(self, report: IsolationReport, needed: Level) -> bool:
        """A box of level none is no box: nobody is asked about it, only the user's own setting lets code run there."""
        if report.level.reaches(needed):
            return True
        return report.level is not Level.NONE and self._ask is not None and await self._ask(report, needed)

    async def best(self, *, overlay: bool = False) -> Candidate | None:
        """The strongest candidate, the first of equals; for an `overlay` one that copies nothing comes first.

        Once there is none better, no other is tried.
        """
        best: Candidate | None = None
        for found in await self._candidates():
            candidate = await self._examine(found)
            if best is None or _rank(candidate, overlay) > _rank(best, overlay):
                best = candidate
            if _rank(best, overlay) == (len(Level) - 1, True):
                break
        if best is None or self.backend or best.report.level is Level.FULL or best.report.advice:
            return best
        # What keeps a stronger one from working is what the user wants to know.
        stronger = next((each.report for each in self._tried.values() if each.report.advice), None) or none_here()
        why = "; ".join(filter(None, (stronger.why_not_stronger, best.report.why_not_stronger)))
        report = replace(best.report, why_not_stronger=why, advice=stronger.advice)
        return replace(best, report=report)

    async def candidates(self) -> tuple[Candidate, ...]:
        """Every backend that might serve here, probed; the probes' results are kept until the next boot."""
        return tuple([await self._examine(found) for found in await self._candidates()])

    async def _candidates(self) -> tuple[Found, ...]:
        async with self._lock:
            if self._found is None:
                self._found = await asyncio.to_thread(self._prepare)
            return self._found

    def _prepare(self) -> tuple[Found, ...]:
        private_folder(self._folder)
        Layers(self._folder / "layers").sweep()
        Mirrors(self._folder / "mirrors").sweep()
        scratch.sweep(self._folder / "runs")
        orphans.end()
        return tuple(candidates(self._folder, self.backend))

    async def _examine(self, found: Found) -> Candidate:
        async with self._lock:
            if found.key not in self._tried:
                self._tried[found.key] = await self._try(found)
            return self._tried[found.key]

    async def _try(self, found: Found) -> Candidate:
        key = f"{_boot()} {platform.release()} {__version__} {found.key}"
        report = self._remembered(key)
        if report is None:
            try:
                probed = await probe.attack(found.build(found.report), found.partly)
            except StetError as error:
                why = found.failure(str(error))
                return Candidate(replace(found.report, why_not_stronger=why.why, advice=why.command), None)
            report = _report(found.report, probed)
            self._remember(key, report)
        return Candidate(report, found.build(report))

    def _remembered(self, key: str) -> IsolationReport | None:
        text = read_private(self._folder / "probed.json")
        try:
            row: dict[str, Any] = json.loads(text or "{}")[key]
            enforced = {Wall(wall): Holds(holds) for wall, holds in row.pop("enforced").items()}
            return IsolationReport(**{**row, "level": Level(row["level"]), "enforced": enforced})
        except (KeyError, TypeError, ValueError):
            return None

    def _remember(self, key: str, report: IsolationReport) -> None:
        path = self._folder / "probed.json"
        try:
            known = json.loads(read_private(path) or "{}")
        except ValueError:
            known = {}
        boot = key.partition(" ")[0]
        kept = {other: row for other, row in known.items() if other.startswith(boot)}
        write_private(path, json.dumps({**kept, key: report.to_json()}))


def _rank(candidate: Candidate, overlay: bool) -> tuple[int, bool]:
    lays = not overlay or (candidate.backend is not None and candidate.backend.overlays)
    return list(Level).index(candidate.report.level), lays


def none_here(named: str = "") -> IsolationReport:
    """The report of a machine without any backend, or without the one that the user named."""
    if named:
        why = f"the settings name {named} as the sandbox's backend, and it is not here"
        return IsolationReport("none", "", Level.NONE, why_not_stronger=why)
    found = advice.without_any(platform.system())
    return IsolationReport("none", "", Level.NONE, why_not_stronger=found.why, advice=found.command)


def refusal(report: IsolationReport, needed: Level) -> str:
    """The sentence for a run that was refused."""
    why = f": {report.why_not_stronger}" if report.why_not_stronger else ""
    help_ = f" Try: {report.advice}" if report.advice else ""
    if needed is Level.NONE:
        return f"No code was run: there is no box here{why}.{help_}"
    return f"No code was run: isolation {needed} is asked for and {report.level} is what stands here{why}.{help_}"


def _report(found: IsolationReport, probed: probe.Probed) -> IsolationReport:
    why = "; ".join(f"{wall}: {hole}" for wall, hole in probed.holes.items())
    return replace(found, level=level_of(probed.enforced), enforced=probed.enforced, why_not_stronger=why)


def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return "unknown"

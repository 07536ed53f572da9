"""The boxes that are attacked, by name, and none at all."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

from stet_ls.engine.sandbox.backends import backend_discovery
from stet_ls.engine.sandbox.backends.landlock_box import LandlockBox
from stet_ls.engine.sandbox.isolation import IsolationLevel, IsolationReport
from stet_ls.engine.sandbox.linux import landlock
from stet_ls.engine.sandbox.spec import RunResult, RunSpec, RunStatus

BARE = IsolationReport("bare", "", IsolationLevel.NONE)
NAMES = ("bubblewrap", "bubblewrap-wheel", "landlock", "landlock-4")
_EMULATED = 4
"""Landlock's version on Ubuntu 24.04, where bubblewrap is kept from working."""


class Box(Protocol):
    """What runs a command."""

    async def run(self, spec: RunSpec) -> RunResult:
        """Runs it."""


class Bare:
    """No box: the command runs as anybody's."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def run(self, spec: RunSpec) -> RunResult:
        """Runs it in a folder of the host, with all variables and with the caller's standard input."""
        for name, content in spec.files.items():
            (self._folder / name).write_bytes(content)
        done = subprocess.run(
            spec.argv, cwd=self._folder, env={**os.environ, **spec.env}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            timeout=spec.limits.wall, check=False, close_fds=False,
        )  # fmt: skip
        status = RunStatus.OK if done.returncode == 0 else RunStatus.FAILED
        return RunResult(status, BARE, exit=done.returncode, stdout=done.stdout, stderr=done.stderr)


def boxes(folder: Path) -> Mapping[str, Callable[[], Box]]:
    """What can be built on this machine, whether or not it stands; `folder` is Stet's own."""
    found: dict[str, Callable[[], Box]] = {"bare": lambda: Bare(_made(folder / "bare"))}
    for name, each in zip(
        ("bubblewrap", "bubblewrap-wheel"), backend_discovery.candidates(folder, "bubblewrap"), strict=False
    ):
        found[name] = lambda each=each: each.build(each.report)  # type: ignore[misc]
    newest = landlock.abi()
    for name, version in zip(NAMES[2:], (newest, _EMULATED), strict=True):
        if newest >= version > 0:
            report = IsolationReport("landlock", f"ABI {version}", IsolationLevel.NONE)
            found[name] = lambda report=report, version=version: LandlockBox(version, folder, report)  # type: ignore[misc]
    return found


def _made(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    return folder

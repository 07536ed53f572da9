"""The probe bites: without walls every attack goes through, in a box none does."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from stet_ls.engine.sandbox import isolation_probe
from stet_ls.engine.sandbox.backends.backend_discovery import bwrap_programs
from stet_ls.engine.sandbox.backends.bwrap import Bwrap
from stet_ls.engine.sandbox.isolation import IsolationLevel, IsolationReport, Wall, WallState, level_of
from stet_ls.engine.sandbox.sandbox import Sandbox
from stet_ls.engine.sandbox.spec import RunResult, RunSpec, RunStatus

PLANTED = "STET_PLANTED"
BARE = IsolationReport("bare", "", IsolationLevel.NONE)


class Bare:
    """No box at all: the command runs as anybody's, for as long as a busy machine lets it take."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    async def run(self, spec: RunSpec) -> RunResult:
        for name, content in spec.files.items():
            (self.folder / name).write_bytes(content)
        # Files and no pipes, which would last as long as what the command left behind.
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
            done = subprocess.run(
                spec.argv,
                cwd=self.folder,
                env={**os.environ, **spec.env, PLANTED: "secret"},
                stdout=output,
                stderr=errors,
                timeout=spec.limits.wall,
                check=False,
            )
            for file in (output, errors):
                file.seek(0)
            status = RunStatus.OK if done.returncode == 0 else RunStatus.FAILED
            return RunResult(status, BARE, exit=done.returncode, stdout=output.read(), stderr=errors.read())


async def test_without_isolation_every_probe_succeeds(tmp_path: Path) -> None:
    probed = await isolation_probe.attack(Bare(tmp_path))

    assert set(probed.holes) == set(Wall)
    assert level_of(probed.enforced) is IsolationLevel.NONE
    for name in ("read_canary", "list_folder"):
        assert name in probed.holes[Wall.FILES_READ]
    for name in ("connect_unix", "connect_abstract", "send_through_pair"):
        assert name in probed.holes[Wall.UNIX_SOCKETS]
    for process in Path("/proc").glob("[0-9]*"):  # what the probe of the tree left, as it should here
        with contextlib.suppress(OSError):
            reported = (process / "cmdline").read_bytes() + (process / "environ").read_bytes()
            if (
                b"stet-survivor-" in reported and PLANTED.encode() in reported
            ):  # and not that of a box, which is probed now
                os.kill(int(process.name), 9)


async def test_in_a_sandbox_no_probe_succeeds(box: Bwrap) -> None:
    probed = await isolation_probe.attack(box)

    assert probed.holes == {}
    assert level_of(probed.enforced) is IsolationLevel.FULL


@pytest.mark.skipif(not list(bwrap_programs()), reason="no bwrap is installed")
async def test_a_probe_is_remembered_until_something_changes(tmp_path: Path) -> None:
    await Sandbox(IsolationLevel.STRONG, tmp_path / "sandbox").candidates()
    file = tmp_path / "sandbox" / "probed.json"
    known = json.loads(file.read_text())
    for row in known.values():
        row["level"] = "partial"
    file.write_text(json.dumps(known))

    again = Sandbox(IsolationLevel.STRONG, tmp_path / "sandbox")

    assert {each.report.level for each in await again.candidates()} == {IsolationLevel.PARTIAL}
    file.write_text("{broken")
    again = Sandbox(IsolationLevel.STRONG, tmp_path / "sandbox")
    assert (await again.best()).report.level is IsolationLevel.FULL  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("gaps", "level"),
    [
        ((), IsolationLevel.FULL),
        ((Wall.MEMORY, Wall.DISK), IsolationLevel.STRONG),
        ((Wall.SIGNALS,), IsolationLevel.PARTIAL),
        ((Wall.NETWORK, Wall.FILES_READ), IsolationLevel.PARTIAL),
        ((Wall.FILES_WRITE,), IsolationLevel.NONE),
    ],
)
def test_a_level_depends_on_the_blocked_probes(gaps: tuple[Wall, ...], level: IsolationLevel) -> None:
    assert level_of({wall: WallState.NO if wall in gaps else WallState.YES for wall in Wall}) is level

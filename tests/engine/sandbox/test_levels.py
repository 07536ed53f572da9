"""Which box is taken, what it earns, and what is said of it."""

from __future__ import annotations

import asyncio
import platform
import shutil
import subprocess
from pathlib import Path

import pytest

from stet_ls.engine.errors import PolicyError
from stet_ls.engine.sandbox import install_advice, isolation_probe, machine_state
from stet_ls.engine.sandbox.backends import backend_discovery
from stet_ls.engine.sandbox.backends.landlock_box import PARTLY, LandlockBox
from stet_ls.engine.sandbox.isolation import IsolationLevel, IsolationReport, Wall
from stet_ls.engine.sandbox.linux import landlock, seccomp_filters
from stet_ls.engine.sandbox.sandbox import Sandbox, no_backend_report
from stet_ls.engine.sandbox.spec import Overlay, RunSpec

needs_landlock = pytest.mark.skipif(landlock.abi() < 4, reason="the kernel has no Landlock of ABI 4")


@pytest.fixture
def ubuntu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Ubuntu 24.04: bwrap is there and AppArmor stops it, Landlock has the ABI 4. Its bwrap."""
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n")
    program.chmod(0o755)
    switch = tmp_path / "apparmor_restrict_unprivileged_userns"
    switch.write_text("1\n")
    monkeypatch.setattr(backend_discovery, "bwrap_programs", lambda: iter([program]))
    monkeypatch.setattr(machine_state, "APPARMOR", switch)
    monkeypatch.setattr(landlock, "abi", lambda: 4)
    return program


@needs_landlock
async def test_where_apparmor_stops_bwrap_landlock_is_strong(ubuntu: Path, tmp_path: Path) -> None:
    sandbox = Sandbox(IsolationLevel.STRONG, tmp_path / "sandbox")

    result = await sandbox.run(RunSpec(("echo", "ran")))

    report = result.isolation
    assert (result.stdout, report.backend, report.level) == (b"ran\n", "landlock", IsolationLevel.STRONG)
    best = await sandbox.best()
    assert best
    assert "AppArmor does not let ordinary programs create user namespaces" in best.report.why_not_stronger
    assert f"profile stet-bwrap {ubuntu} flags=(unconfined) {{\n  userns,\n}}" in best.report.advice
    assert best.report.advice.endswith("sudo apparmor_parser -r /etc/apparmor.d/stet-bwrap")


@needs_landlock
async def test_requesting_the_full_level_does_not_grant_it(ubuntu: Path, tmp_path: Path) -> None:
    sandbox = Sandbox(IsolationLevel.FULL, tmp_path / "sandbox")

    with pytest.raises(PolicyError, match="isolation full is required, and only strong is available here") as refused:
        await sandbox.run(RunSpec(("true",)))
    assert str(ubuntu) in str(refused.value)


@needs_landlock
@pytest.mark.parametrize(
    ("part", "wall"),
    [("_SIGNALS", Wall.SIGNALS), ("_MODES_AND_TIMES", Wall.FILES_WRITE), ("_REACHING_OUT", Wall.UNIX_SOCKETS)],
)
async def test_landlock_without_its_filter_has_a_lower_level(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str, wall: Wall
) -> None:
    """The probe sees what the filter is there for."""
    monkeypatch.setattr(seccomp_filters, part, ())
    (tmp_path / "sandbox").mkdir(mode=0o700)
    box = LandlockBox(4, tmp_path / "sandbox", IsolationReport("landlock", "", IsolationLevel.NONE))

    probed = await isolation_probe.attack(box, PARTLY)

    assert wall in probed.holes


async def test_a_configured_backend_is_the_only_one_tried(tmp_path: Path) -> None:
    sandbox = Sandbox(IsolationLevel.STRONG, tmp_path / "sandbox", backend="podman:nowhere")

    if shutil.which("podman"):
        pytest.skip("podman is here")
    with pytest.raises(PolicyError, match=r"the configured sandbox backend podman:nowhere is not available"):
        await sandbox.run(RunSpec(("true",)))


@pytest.mark.skipif(
    len(list(backend_discovery.bwrap_programs())) < 2, reason="there is no second bwrap, which lays over what it shows"
)
async def test_a_workspace_is_overlaid_where_possible(tmp_path: Path) -> None:
    sandbox = Sandbox(IsolationLevel.STRONG, tmp_path / "sandbox")
    (tmp_path / "workspace").mkdir()

    result = await sandbox.run(RunSpec(("true",), overlay=Overlay(tmp_path / "workspace")))

    assert result.isolation.level is IsolationLevel.FULL
    assert not (tmp_path / "sandbox" / "mirrors").exists()


@pytest.mark.parametrize(
    ("system", "why", "command"),
    [("Linux", "bubblewrap is not installed", "apt install bubblewrap"), ("Windows", "WSL", "wsl --install"),
     ("Plan9", "no sandbox for Plan9", "")],
)  # fmt: skip
def test_without_any_sandbox_the_way_out_is_shown(
    monkeypatch: pytest.MonkeyPatch, system: str, why: str, command: str
) -> None:
    monkeypatch.setattr(platform, "system", lambda: system)

    report = no_backend_report()

    assert report.level is IsolationLevel.NONE
    assert why in report.why_not_stronger
    assert command in report.advice


def test_the_advice_is_a_valid_shell_command() -> None:
    profile = install_advice.APPARMOR_PROFILE.format(program="/usr/bin/bwrap")

    said = subprocess.run(["sh", "-c", f"printf '%s' '{profile}'"], capture_output=True, text=True)

    assert said.stdout == profile


async def test_two_concurrent_requests_probe_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    real = isolation_probe.attack

    async def attack(*arguments: object) -> isolation_probe.WallReport:
        asked.append(arguments)
        return await real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(isolation_probe, "attack", attack)
    sandbox = Sandbox(IsolationLevel.STRONG, tmp_path / "sandbox")
    await asyncio.gather(sandbox.best(), sandbox.best())

    assert len(asked) == 1

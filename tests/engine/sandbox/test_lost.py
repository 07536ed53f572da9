"""A box that worked once and does not any more: another one serves, or none, and no report names the old level."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

import pytest

from stet_ls.engine.errors import PolicyError
from stet_ls.engine.sandbox import machine_state
from stet_ls.engine.sandbox.backends import backend_discovery
from stet_ls.engine.sandbox.isolation import IsolationLevel
from stet_ls.engine.sandbox.linux import landlock
from stet_ls.engine.sandbox.sandbox import Sandbox
from stet_ls.engine.sandbox.spec import Overlay, RunSpec

PROGRAMS = list(backend_discovery.bwrap_programs())

pytestmark = [
    pytest.mark.skipif(not PROGRAMS, reason="no bwrap is installed"),
    pytest.mark.skipif(landlock.abi() < 4, reason="the kernel has no Landlock of ABI 4"),
]
ECHO = RunSpec(("echo", "ran"))


@dataclass
class Machine:
    """One on which user namespaces can be taken away, and given back."""

    denied: Path

    def deny(self) -> None:
        self.denied.write_text("no")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A real bwrap behind a program that says what bwrap says where it may not work."""
    denied, program = tmp_path / "denied", tmp_path / "bwrap"
    program.write_text(
        f'#!/bin/sh\nif [ -e {denied} ] && [ "$1" != --version ]; then\n'
        "  echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1\nfi\n"
        f'exec {shlex.quote(str(PROGRAMS[0]))} "$@"\n'
    )
    program.chmod(0o755)
    monkeypatch.setattr(backend_discovery, "bwrap_programs", lambda: iter([program]))
    return Machine(denied)


async def test_a_run_continues_in_the_next_sandbox_and_reports_its_level(machine: Machine, tmp_path: Path) -> None:
    sandbox = Sandbox(IsolationLevel.STRONG, tmp_path / "sandbox")
    first = await sandbox.run(ECHO)
    before = await sandbox.identity()

    machine.deny()
    then = await sandbox.run(ECHO)

    assert (first.isolation.level, first.isolation.backend) == (IsolationLevel.FULL, "bubblewrap")
    assert (then.stdout, then.isolation.level, then.isolation.backend) == (b"ran\n", IsolationLevel.STRONG, "landlock")
    best = await sandbox.best()
    assert best
    assert "bubblewrap does not work here" in best.report.why_not_stronger
    assert await sandbox.identity() != before


async def test_a_run_that_requires_the_lost_level_is_refused(machine: Machine, tmp_path: Path) -> None:
    sandbox = Sandbox(IsolationLevel.FULL, tmp_path / "sandbox")
    await sandbox.run(ECHO)

    machine.deny()

    with pytest.raises(PolicyError, match="isolation full is required, and only strong is available here"):
        await sandbox.run(ECHO)


async def test_the_next_start_does_not_trust_a_remembered_level(machine: Machine, tmp_path: Path) -> None:
    assert (await Sandbox(IsolationLevel.STRONG, tmp_path / "sandbox").run(ECHO)).isolation.level is IsolationLevel.FULL

    machine.deny()
    again = Sandbox(IsolationLevel.FULL, tmp_path / "sandbox")

    with pytest.raises(PolicyError, match="isolation full is required"):
        await again.allow()
    machine.denied.unlink()
    assert (await Sandbox(IsolationLevel.FULL, tmp_path / "sandbox").run(ECHO)).isolation.level is IsolationLevel.FULL


def test_a_changed_kernel_setting_invalidates_an_earlier_probe(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    most = tmp_path / "max_user_namespaces"
    most.write_text("15000\n")
    monkeypatch.setattr(machine_state, "MOST", most)
    before = machine_state.namespaces()

    most.write_text("0\n")

    assert machine_state.namespaces() != before


async def test_a_run_that_no_sandbox_can_do_does_not_lower_a_level(tmp_path: Path) -> None:
    """It is the run's own fault: the error is reported, and the sandbox continues."""
    sandbox = Sandbox(IsolationLevel.STRONG, tmp_path / "sandbox")
    with pytest.raises(ValueError, match="not a path below"):
        await sandbox.run(RunSpec(("true",), files={"../x": b""}))
    assert (await sandbox.run(ECHO)).isolation.level is IsolationLevel.FULL


@pytest.mark.parametrize("backend", ["bubblewrap", "landlock"])
@pytest.mark.parametrize("home", [".stet", "."], ids=["in the workspace", "the workspace itself"])
async def test_a_home_in_the_workspace_is_neither_overlaid_nor_visible(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, backend: str, home: str
) -> None:
    root = tmp_path / "workspace"
    (root / home).mkdir(parents=True, exist_ok=True)
    (root / "a.txt").write_text("saved")
    (root / home / "config.toml").write_text("a key")
    monkeypatch.setenv("STET_HOME", str(root / home))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    sandbox = Sandbox(IsolationLevel.STRONG, root / home / "cache" / "sandbox", backend=backend)
    script = f"cat a.txt b.txt; cat {home}/config.toml {home}/cache/*; echo changed > a.txt; mkdir -p new; true"

    for _ in range(2):
        result = await sandbox.run(RunSpec(("sh", "-c", script), overlay=Overlay(root, {"b.txt": b" unsaved"})))
        assert result.stdout == b"saved unsaved", result

    assert (root / "a.txt").read_text() == "saved"
    assert not (root / "new").exists()

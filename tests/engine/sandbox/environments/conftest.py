"""An index of wheels made here, which the user's own file for pip names: no test needs a network."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.processes.wheels import use_index, write_wheel

from stet_ls.engine.sandbox.environments.interpreter import Interpreter
from stet_ls.engine.sandbox.environments.interpreter_detection import Detector
from stet_ls.engine.sandbox.sandbox import Sandbox


@pytest.fixture
def wheel() -> Callable[..., None]:
    """Makes one: folder, name, version, files and perhaps what it requires."""
    return write_wheel


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of wheels: `stone` 1.0, and `pebble` 1.0, which is only there as sources."""
    folder = tmp_path / "index"
    folder.mkdir()
    write_wheel(folder, "stone", "1.0", {"stone.py": "WEIGHT = 7\n", "ballast.py": "#" * 200_000})
    (folder / "pebble-1.0.tar.gz").write_bytes(b"")
    home = tmp_path / "home"
    use_index(home, folder)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return folder


@pytest.fixture
async def runs(sandbox: Sandbox) -> Sandbox:
    """A sandbox that runs things; skipped where none does."""
    best = await sandbox.best()
    if best is None or best.backend is None:
        pytest.skip(f"no box stands here: {best.report.why_not_stronger if best else 'there is no backend'}")
    return sandbox


@pytest.fixture
async def python(runs: Sandbox) -> Interpreter:
    """The installation below the interpreter of these tests."""
    return await Detector(runs).prove(Path(sys.executable).resolve())

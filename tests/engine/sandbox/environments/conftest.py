"""An index of wheels made here, which the user's own file for pip names: no test needs a network."""

from __future__ import annotations

import base64
import hashlib
import sys
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from stet_ls.engine.sandbox.environments.detect import Detector
from stet_ls.engine.sandbox.environments.interpreter import Interpreter
from stet_ls.engine.sandbox.sandbox import Sandbox


def _wheel(folder: Path, name: str, version: str, files: Mapping[str, str], requires: str = "") -> None:
    """A wheel of pure Python, as PEP 427 has it."""
    info = f"{name}-{version}.dist-info"
    needs = f"Requires-Dist: {requires}\n" if requires else ""
    members = {
        **files,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: here\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = [
        f"{path},sha256={base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip('=')},"
        f"{len(text.encode())}\n"
        for path, text in members.items()
    ]
    members[f"{info}/RECORD"] = "".join(record) + f"{info}/RECORD,,\n"
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        for path, text in members.items():
            archive.writestr(path, text)


@pytest.fixture
def wheel() -> Callable[..., None]:
    """Makes one: folder, name, version, files and perhaps what it requires."""
    return _wheel


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of wheels: `stone` 1.0, and `pebble` 1.0, which is only there as sources."""
    folder = tmp_path / "index"
    folder.mkdir()
    _wheel(folder, "stone", "1.0", {"stone.py": "WEIGHT = 7\n", "ballast.py": "#" * 200_000})
    (folder / "pebble-1.0.tar.gz").write_bytes(b"")
    home = tmp_path / "home"
    (home / ".config" / "pip").mkdir(parents=True)
    (home / ".config" / "pip" / "pip.conf").write_text(f"[global]\nno-index = true\nfind-links = {folder}\n")
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

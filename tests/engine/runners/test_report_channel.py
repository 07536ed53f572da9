"""The files of a reporter in a sandbox."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from stet_ls.engine.runners.report_channel import FOLDER, placed


def test_the_reporter_is_loaded_without_being_compiled_again(tmp_path: Path) -> None:
    for name, data in placed("pytest_main", "nonce").items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    modules = {path.stem for path in (tmp_path / FOLDER / "stet_inside").glob("*.py")}
    source = f"import sys; sys.path.insert(0, {FOLDER!r}); import stet_inside.pytest_main"
    done = subprocess.run(
        [sys.executable, "-B", "-v", "-c", source], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    loaded = [line for line in done.stderr.splitlines() if line.startswith("# code object from") and FOLDER in line]

    assert "watch" in modules
    assert len(loaded) >= 8
    assert all(".pyc" in line for line in loaded), loaded

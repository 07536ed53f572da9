"""Tools of the machine that tests need: a test of one that is missing is skipped, and says so."""

from __future__ import annotations

import shutil
import subprocess

import pytest


def needs(tool: str) -> pytest.MarkDecorator:
    """Skips where the tool is absent, or is a rustup proxy without a toolchain (it fails whatever it is asked)."""
    if shutil.which(tool) is None:
        return pytest.mark.skipif(True, reason=f"{tool} is not on PATH")
    asked = subprocess.run([tool, "--help"], capture_output=True, text=True, timeout=30)
    told = (asked.stderr or asked.stdout).strip()[:100]
    return pytest.mark.skipif(asked.returncode not in (0, 2), reason=f"{tool} does not run here: {told}")  # 2: gofmt

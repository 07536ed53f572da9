"""Tools of the machine that tests need: a test of one that is missing is skipped, and says so."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest


def needs(*tools: str) -> pytest.MarkDecorator:
    """Skips where a tool is absent, or is a rustup proxy without a toolchain (it fails whatever it is asked)."""
    why = next(filter(None, map(_missing, tools)), "")
    return pytest.mark.skipif(bool(why), reason=why)


@cache
def _missing(tool: str) -> str:
    found = shutil.which(tool)
    if found is None:
        return f"{tool} is not on PATH"
    if Path(found).resolve().name != "rustup":
        return ""
    asked = subprocess.run([tool, "--version"], capture_output=True, text=True, timeout=30)
    output = (asked.stderr or asked.stdout).strip()[:100]
    return f"{tool} does not run here: {output}" if asked.returncode else ""

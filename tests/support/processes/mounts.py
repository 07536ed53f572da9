"""Commands that run with other mounts: a folder that is read-only, or on a disk with no room."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

import pytest

from stet_ls.engine.sandbox.backends.backend_discovery import bwrap_programs


def read_only(folder: Path) -> list[str]:
    """The words before a command that is to find `folder` read-only, under any user."""
    return _mounting("--ro-bind", str(folder), str(folder))


def tiny(folder: Path, size: int) -> list[str]:
    """The words before a command that is to find an empty disk of so many bytes at `folder`."""
    return _mounting("--size", str(size), "--perms", "0700", "--tmpfs", str(folder))


def _mounting(*mounts: str) -> list[str]:
    program, why = _bwrap()
    if program is None:
        pytest.skip(f"no mounts here: {why}")
    return [str(program), "--dev-bind", "/", "/", *mounts]


@cache
def _bwrap() -> tuple[Path | None, str]:
    why = "no bwrap is installed"
    for program in bwrap_programs():
        tried = [str(program), "--dev-bind", "/", "/", "--size", "4096", "--perms", "0700", "--tmpfs", "/tmp", "true"]
        done = subprocess.run(tried, capture_output=True, text=True, timeout=60, check=False)
        if done.returncode == 0:
            return program, ""
        why = done.stderr.strip()
    return None, why

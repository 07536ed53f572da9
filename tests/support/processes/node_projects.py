"""Folders with an installed Vitest or Jest, which `make node-projects` makes; a test without them is skipped."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

FRAMEWORKS = ("vitest", "jest")
_PLACE = Path(os.environ.get("NODE_PROJECTS") or Path(__file__).parents[3] / ".cache" / "node-projects")


@contextmanager
def node_project(name: str) -> Iterator[Path]:
    """A folder of its own with the packages of a framework, as hard links: they count as the folder's own files."""
    packages = _PLACE / name / "node_modules"
    if not (packages / name).is_dir():
        pytest.skip(f"{name} is not installed: make node-projects, or NODE_PROJECTS names where it is")
    folder = Path(tempfile.mkdtemp(prefix="try-", dir=_PLACE))
    try:
        shutil.copytree(packages, folder / "node_modules", symlinks=True, copy_function=os.link)
        yield folder
    finally:
        shutil.rmtree(folder)

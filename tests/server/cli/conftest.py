"""A folder to work in, and the command that runs there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from support.processes.command import Stet


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def stet(folder: Path, environment: Mapping[str, str]) -> Stet:
    return Stet(folder, environment)

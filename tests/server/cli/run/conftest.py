"""The file that jobs of the command line work on."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.projects.sums import BROKEN


@pytest.fixture
def file(folder: Path) -> Path:
    file = folder / "sums.py"
    file.write_text(BROKEN)
    return file

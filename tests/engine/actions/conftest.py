"""What the tests of actions share."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.actions import CheckAction
from support.processes.sandboxed import backend, make, runtime
from support.servers.scripted import ScriptedModel

__all__ = ["backend", "make", "runtime"]


@pytest.fixture
def root(tmp_path: Path, stet_home: Path) -> Path:
    """A project whose tests import its modules from the top."""
    root = tmp_path / "shop"
    (root / "tests").mkdir(parents=True)
    (root / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = ["."]\n')
    return root


@pytest.fixture
def check_action(scripted: ScriptedModel, stet_home: Path, tmp_path: Path) -> CheckAction:
    folder = tmp_path / "shop"
    folder.mkdir()
    return CheckAction(scripted, folder)

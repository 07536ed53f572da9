"""What the tests of actions share."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.actions import CheckAction
from support.boxed import backend, make, runtime
from support.scripted import ScriptedModel

__all__ = ["backend", "make", "runtime"]


@pytest.fixture
def check_action(scripted: ScriptedModel, stet_home: Path, tmp_path: Path) -> CheckAction:
    folder = tmp_path / "shop"
    folder.mkdir()
    return CheckAction(scripted, folder)

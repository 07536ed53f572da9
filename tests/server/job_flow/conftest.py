"""The model that tests of edits share."""

from __future__ import annotations

import pytest
from support.edits import NEW
from support.servers.scripted import ScriptedModel
from support.servers.session import fenced


@pytest.fixture
def model(scripted: ScriptedModel) -> ScriptedModel:
    """A model that shortens `add`."""
    scripted.default = fenced(NEW)
    return scripted

"""What every test may ask for: a scripted model, a home of its own, and the environment of a child process."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from support.scripted import ScriptedModel

OURS = ("STET_", "OPENAI_")
"""Variables of the developer's shell that must not reach a test."""


@pytest.fixture
def scripted() -> Iterator[ScriptedModel]:
    """A running OpenAI-compatible server that says what the test wrote."""
    with ScriptedModel() as model:
        yield model


@pytest.fixture
def stet_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty STET_HOME, and an environment without anybody's endpoints and keys."""
    for name in tuple(os.environ):
        if name.startswith(OURS):
            monkeypatch.delenv(name)
    home = tmp_path / "stet-home"
    home.mkdir()
    monkeypatch.setenv("STET_HOME", str(home))
    return home


@pytest.fixture
def environment(stet_home: Path, scripted: ScriptedModel) -> Mapping[str, str]:
    """The environment of a child process that finds its home and the scripted model."""
    return {
        **os.environ,
        "STET_HOME": str(stet_home),
        "STET_BASE_URL": scripted.base_url,
        "STET_MODEL": scripted.models[0],
        "STET_API_KEY": "test-key",
    }

"""One model and one environment for all tests of an editor: it starts once, with its server."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from support.editors.neovim import Neovim, plugin
from support.editors.signs import BEFORE, REPLY
from support.processes.stet import stet_argv
from support.servers.scripted import Reply, ScriptedModel


@pytest.fixture(scope="module")
def shared_model() -> Iterator[ScriptedModel]:
    """The scripted model of a whole file of tests."""
    with ScriptedModel() as model:
        yield model


@pytest.fixture
def scripted(shared_model: ScriptedModel) -> ScriptedModel:
    """The shared model, with nothing asked of it yet."""
    shared_model.reset()
    return shared_model


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory, shared_model: ScriptedModel) -> Mapping[str, str]:
    """The environment of an editor: an empty home, `stet` on PATH, and the scripted model as its only endpoint."""
    home = tmp_path_factory.mktemp("home")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("STET_", "OPENAI_", "XDG_"))}
    return {
        **kept,
        "HOME": str(home),
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "STET_HOME": str(home / "stet"),
        "STET_BASE_URL": shared_model.base_url,
        "STET_MODEL": shared_model.models[0],
        "STET_API_KEY": "test-key",
        "STET_MODEL_CACHE": "false",  # a test that asks twice counts on two replies
        "STET_CHECKS_REVIEW": "off",  # a reviewer would take the next reply of a test's script
    }


@pytest.fixture
def file(tmp_path: Path, scripted: ScriptedModel) -> Path:
    """A file to edit, and a model that knows how."""
    scripted.default = Reply(REPLY)
    path = tmp_path / "signs.py"
    path.write_text(BEFORE, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def neovim(tmp_path_factory: pytest.TempPathFactory, environment: Mapping[str, str]) -> Iterator[Neovim]:
    """A Neovim with our plugin."""
    with Neovim(tmp_path_factory.mktemp("nvim"), environment, plugin([*stet_argv(), "--stdio"])) as nvim:
        yield nvim

"""Neovim with a file open."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.editors.neovim import Neovim
from support.editors.neovim_file import BEFORE, put_cursor
from support.editors.signs import REPLY
from support.servers.scripted import Reply, ScriptedModel


@pytest.fixture
def file(tmp_path: Path, scripted: ScriptedModel) -> Path:
    """A file to edit, and a model that knows how."""
    scripted.default = Reply(REPLY)
    path = tmp_path / "signs.py"
    path.write_text(BEFORE, encoding="utf-8")
    return path


@pytest.fixture
def editor(neovim: Neovim, file: Path) -> Neovim:
    """The editor with the file open and the cursor in `sign`."""
    neovim.open(file)
    put_cursor(neovim, 5)
    return neovim

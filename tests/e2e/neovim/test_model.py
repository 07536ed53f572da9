"""A real Neovim whose server has no model: it is chosen by question, and the job continues."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from support.editors.neovim import Neovim, plugin
from support.editors.neovim_file import BEFORE, OLD, bar, put_cursor
from support.editors.neovim_picture import picture
from support.editors.signs import AFTER
from support.processes.stet import stet_argv
from support.servers.scripted import ScriptedModel

pytestmark = pytest.mark.editor


@pytest.fixture
def newcomer(tmp_path: Path, environment: Mapping[str, str], file: Path) -> Iterator[Neovim]:
    """The editor of a user who has neither a model nor a model server, with a file open."""
    own = {name: value for name, value in environment.items() if name not in ("STET_BASE_URL", "STET_MODEL")}
    own |= {"STET_HOME": str(tmp_path / "stet"), "STET_MODEL_DISCOVER": "false"}
    with Neovim(tmp_path, own, plugin([*stet_argv(), "--stdio"]), screen=(24, 80)) as nvim:
        nvim.open(file)
        put_cursor(nvim, 5)
        nvim.command(f"cd {tmp_path}")
        yield nvim


QUESTION = "vim.api.nvim_buf_get_lines(0, 0, 1, false)[1]:find('No model is configured', 1, true)"
KEY = "vim.fn.maparg('o', 'n', false, true).buffer == 1"


def test_a_job_without_a_model_offers_one_and_continues_with_it(newcomer: Neovim, scripted: ScriptedModel) -> None:
    newcomer.lua(f"""
      local answers = {{ "{scripted.base_url}", "{scripted.models[0]}" }}
      vim.ui.input = function(_, done) done(table.remove(answers, 1)) end
      vim.fn.inputsecret = function() return "" end
      vim.ui.select = function(items, _, on_choice)
        on_choice(vim.iter(items):find(function(item) return vim.startswith(item[1], "Another endpoint") end))
      end
    """)
    newcomer.command("Stet refactor")
    assert newcomer.done()["status"] == "failed"
    newcomer.wait(QUESTION)
    assert "stet model pull" not in newcomer.text(), "the keys do it"
    assert bar(newcomer).split() == ["d", "Download", "1117", "MB", "o", "Other", "model…", "q", "Close"]
    assert newcomer.lua("return require('stet').status()") == "Stet ✗ no model"
    assert not any(":Stet health" in message for message in newcomer.seen()["messages"])
    picture(newcomer, "model")
    first = newcomer.lua("return require('stet').last_job")
    newcomer.wait(KEY)
    newcomer.press("o")
    assert newcomer.done(2)["applied"] is True
    assert newcomer.lua("return require('stet').last_job") != first
    assert newcomer.text() == BEFORE.replace(OLD, AFTER)
    assert newcomer.lua("return require('stet').status()") == f"Stet ✓ {scripted.models[0]}"

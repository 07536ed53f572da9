"""Instructions that a real Neovim asks its user for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.editors.neovim import Neovim
from support.editors.neovim_file import choose, put_cursor
from support.editors.signs import REPLY
from support.servers.scripted import Reply, ScriptedModel

pytestmark = pytest.mark.editor


@pytest.fixture
def input_box(editor: Neovim) -> Iterator[Neovim]:
    """An editor whose input box is answered with "add one"; `_G.prompts` are its prompts."""
    editor.lua("""
      _G.prompts, _G.native_input, _G.reply = {}, vim.ui.input, "add one"
      vim.ui.input = function(options, chosen)
        table.insert(_G.prompts, options.prompt)
        chosen(_G.reply)
      end
    """)
    yield editor
    editor.lua("vim.ui.input = _G.native_input")


@pytest.mark.parametrize("way", ["menu", "command"])
def test_generate_asks_for_an_instruction(input_box: Neovim, scripted: ScriptedModel, way: str) -> None:
    scripted.default = Reply(REPLY, stall_after=0)
    if way == "menu":
        choose(input_box, "refactor.rewrite.stet.generate")
    else:
        input_box.command("Stet generate")
    assert "add one" in scripted.wait_request().prompt
    input_box.wait("require('stet').last_job ~= nil")
    input_box.command("Stet cancel")
    input_box.done()
    assert len(input_box.lua("return _G.prompts")) == 1


def test_a_comment_is_the_instruction_and_nothing_is_asked(input_box: Neovim, scripted: ScriptedModel) -> None:
    input_box.lua("vim.api.nvim_buf_set_lines(0, 3, 3, false, { '# stet: add two' })")
    put_cursor(input_box, 4)
    scripted.default = Reply(REPLY, stall_after=0)
    input_box.command("Stet generate")
    assert "add two" in scripted.wait_request().prompt
    input_box.wait("require('stet').last_job ~= nil")
    input_box.command("Stet cancel")
    input_box.done()
    assert input_box.lua("return #_G.prompts") == 0


def test_the_question_names_its_target(input_box: Neovim, scripted: ScriptedModel) -> None:
    scripted.default = Reply(REPLY, stall_after=0)
    input_box.command("Stet refactor ?")
    assert "add one" in scripted.wait_request().prompt
    assert input_box.lua("return _G.prompts") == ["Refactor, how (`sign`, lines 4–10)? "]
    input_box.wait("require('stet').last_job ~= nil")
    input_box.command("Stet cancel")
    input_box.done()


def test_a_key_of_the_users_own_starts_an_action(editor: Neovim) -> None:
    editor.lua("vim.keymap.set('n', 'gst', '<Plug>(stet-refactor)')")
    editor.press("gst")
    assert editor.done()["applied"] is True


def test_a_task_without_an_instruction_starts_nothing(input_box: Neovim, scripted: ScriptedModel) -> None:
    input_box.lua("_G.reply = ''")
    input_box.command("Stet task")
    input_box.wait("#_G.prompts == 1")
    assert input_box.lua("return require('stet').last_job") is None

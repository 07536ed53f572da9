"""The server of a real Neovim: started, missing, killed; the plugin's help and health."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Mapping
from pathlib import Path

import pytest
from support.editors.neovim import PLUGIN, Neovim, plugin
from support.editors.neovim_file import BEFORE, OLD, choose, put_cursor
from support.editors.signs import AFTER, REPLY
from support.processes.stet import stet_argv
from support.servers.scripted import Reply, ScriptedModel

pytestmark = pytest.mark.editor


def test_the_command_waits_for_a_server_that_is_starting(
    tmp_path: Path, environment: Mapping[str, str], scripted: ScriptedModel, file: Path
) -> None:
    scripted.default = Reply(REPLY)
    with Neovim(tmp_path, environment, plugin([*stet_argv(), "--stdio"])) as nvim:
        nvim.command(f"edit {file} | 5Stet refactor")
        assert nvim.done()["applied"] is True


def test_checkhealth_finds_the_command_and_the_server(editor: Neovim) -> None:
    editor.command("checkhealth stet")
    report = editor.text()
    assert "OK stet 0." in report
    assert "OK running on" in report
    assert "ERROR" not in report


def test_the_help_is_found(editor: Neovim) -> None:
    editor.command("help stet")
    editor.wait("vim.fn.expand('%:t') == 'stet.txt'")


def test_the_help_has_its_tags(editor: Neovim, tmp_path: Path) -> None:
    shutil.copytree(PLUGIN / "doc", tmp_path / "doc")
    editor.command(f"helptags {tmp_path / 'doc'}")
    tags = [line.split("\t")[0] for line in (tmp_path / "doc" / "tags").read_text().splitlines()]
    plugs = ["<Plug>(stet)", "<Plug>(stet-refactor)", "stet-preview"]
    assert tags == sorted(
        [":Stet", "StetDone", "stet", "stet-settings", "stet-setup", "stet.status()", "stet.txt", *plugs]
    )


def test_the_configuration_alone_adds_the_actions_to_the_menu(
    tmp_path: Path, environment: Mapping[str, str], scripted: ScriptedModel, file: Path
) -> None:
    """Without the plugin, as `stet editor neovim` prints it; `gra` is Neovim's own."""
    scripted.default = Reply(REPLY)
    configuration = (PLUGIN.parent / "configs" / "neovim.lua").read_text(encoding="utf-8")
    with Neovim(tmp_path, environment, configuration) as nvim:
        nvim.open(file)
        put_cursor(nvim, 5)
        choose(nvim, "refactor.rewrite.stet.refactor")
        nvim.wait("vim.api.nvim_buf_line_count(0) == 9")
        assert nvim.text() == BEFORE.replace(OLD, AFTER)


def test_a_killed_server_is_reported_once_and_started_again(editor: Neovim, scripted: ScriptedModel) -> None:
    editor.command("Stet refactor")
    assert editor.done()["applied"] is True
    editor.command("undo")
    editor.lua("_G.old = vim.lsp.get_clients({ name = 'stet' })[1].id")
    [pid] = editor.lua("return vim.api.nvim_get_proc_children(vim.uv.os_getpid())")
    os.kill(pid, signal.SIGKILL)
    messages = editor.wait_message("the server ended (signal 9); no text was changed")
    assert messages.endswith("It was started again; `:Stet retry` repeats the last job")
    editor.wait("(vim.lsp.get_clients({ name = 'stet', bufnr = 0 })[1] or { id = _G.old }).id ~= _G.old")
    assert editor.text() == BEFORE
    editor.command("Stet retry")
    assert editor.done(2)["applied"] is True
    assert editor.text() == BEFORE.replace(OLD, AFTER)


def test_a_missing_server_is_reported_with_a_fix(tmp_path: Path, environment: Mapping[str, str], file: Path) -> None:
    with Neovim(tmp_path, environment, plugin(["/no/such/stet", "--stdio"])) as nvim:
        nvim.command(f"edit {file}")
        messages = nvim.wait_message("/no/such/stet", ":Stet restart")
        assert "not installed or not on PATH" in messages
        nvim.command(f"edit {file.with_name('other.py')}")
        nvim.lua("vim.wait(50)")
        assert len(nvim.seen()["messages"]) == 1, "once in a session"
        nvim.command("Stet refactor")
        nvim.wait("#_G.seen.messages == 2")
        nvim.lua(f"vim.lsp.config('stet', {{ cmd = {{ {', '.join(map(json.dumps, [*stet_argv(), '--stdio']))} }} }})")
        nvim.command("Stet restart")
        nvim.attach()


def test_the_log_opens(editor: Neovim) -> None:
    editor.command("Stet log")
    editor.wait("vim.fn.expand('%:t') == 'stet.log'")


def test_setup_lists_the_models_and_keeps_the_choice(editor: Neovim, environment: Mapping[str, str]) -> None:
    chosen = Path(environment["STET_HOME"], "model.toml")
    editor.lua("""
      _G.native_select = vim.ui.select
      vim.ui.select = function(items, options, on_choice)
        _G.titles = vim.tbl_map(options.format_item, items)
        on_choice(items[#items - 1])
      end
      _G.native_input, _G.native_secret = vim.ui.input, vim.fn.inputsecret
      local answers = { "http://127.0.0.1:9/v1", "mine" }
      vim.ui.input = function(_, done) done(table.remove(answers, 1)) end
      vim.fn.inputsecret = function() return "$MY_KEY" end
    """)
    editor.command("Stet setup")
    editor.wait_message("Stet uses mine at http://127.0.0.1:9/v1.", "The variable STET_BASE_URL overrides that.")
    assert "qwen2.5-coder" in editor.lua("return table.concat(_G.titles, '\\n')").lower()
    assert 'api_key_env = "MY_KEY"' in chosen.read_text()
    chosen.unlink()
    editor.lua("vim.ui.select, vim.ui.input, vim.fn.inputsecret = _G.native_select, _G.native_input, _G.native_secret")

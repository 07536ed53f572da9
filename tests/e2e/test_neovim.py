"""The whole way in a real Neovim: attach, list, run, progress, cancel, undo, refusal."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from support.neovim import Neovim
from support.scripted import Reply, ScriptedModel
from support.stet import stet_argv

pytestmark = pytest.mark.editor

BEFORE = """\
import os


def sign(x):
    if x > 0:
        return 1
    elif x < 0:
        return -1
    else:
        return 0


def other(y):
    return y
"""

AFTER = """\
def sign(x):
    return (x > 0) - (x < 0)
"""

REPLY = f"PLAN: compare once.\nCODE:\n```python\n{AFTER}```\n"


@pytest.fixture
def editor(tmp_path: Path, scripted: ScriptedModel, environment: Mapping[str, str]) -> Iterator[Neovim]:
    work = tmp_path / "work"
    work.mkdir()
    file = work / "signs.py"
    file.write_text(BEFORE)
    scripted.default = Reply(REPLY)
    with Neovim(file, tmp_path, environment, [*stet_argv(), "--stdio"]) as nvim:
        nvim.attach()
        yield nvim


def put_cursor(nvim: Neovim, line: int) -> None:
    nvim.lua(f"vim.api.nvim_win_set_cursor(0, {{ {line}, 4 }})")


def test_refactor_lands_and_is_undone_in_one_step(editor: Neovim) -> None:
    # a change of the user's own first: undo must take back the edit and leave this
    editor.lua("vim.api.nvim_buf_set_lines(0, 0, 1, false, { 'import sys' })")
    put_cursor(editor, 5)
    editor.lua("vim.cmd('Stet refactor make it one line')")
    result = editor.done()
    assert (result["status"], result["applied"]) == ("done", True), result
    typed = BEFORE.replace("import os", "import sys")
    old = BEFORE[BEFORE.index("def sign") : BEFORE.index("\n\n\ndef other")]
    assert editor.text() + "\n" == typed.replace(old, AFTER.rstrip())
    editor.lua("vim.cmd('undo')")
    assert editor.text() + "\n" == typed


def test_progress_begins_and_ends_once(editor: Neovim) -> None:
    put_cursor(editor, 5)
    editor.lua("vim.cmd('Stet refactor')")
    editor.done()
    kinds = [value["kind"] for value in editor.seen()["progress"]]
    assert kinds[0] == "begin"
    assert kinds[-1] == "end"
    assert (kinds.count("begin"), kinds.count("end")) == (1, 1)


def test_the_menu_lists_the_actions_of_a_function(editor: Neovim) -> None:
    put_cursor(editor, 5)
    titles = editor.lua("""
      local client = vim.lsp.get_clients({ name = "stet" })[1]
      local params = vim.lsp.util.make_range_params(0, client.offset_encoding)
      params.context = { diagnostics = {}, triggerKind = 1 }
      local answer = client:request_sync("textDocument/codeAction", params, 10000, 0)
      return vim.tbl_map(function(item) return item.title end, answer.result)
    """)
    assert any("Refactor" in title for title in titles), titles
    assert any("Explain" in title for title in titles), titles


def test_cancel_stops_the_tokens_and_leaves_the_text(editor: Neovim, scripted: ScriptedModel) -> None:
    scripted.default = Reply(REPLY, stall_after=2)
    put_cursor(editor, 5)
    editor.lua("vim.cmd('Stet refactor')")
    scripted.wait_request(1, 20)
    editor.wait("require('stet').last_job ~= nil")
    editor.lua("vim.cmd('Stet cancel')")
    scripted.wait_disconnect(1, 10)
    assert editor.done()["status"] == "cancelled"
    assert editor.text() + "\n" == BEFORE


def test_an_edit_made_for_old_text_is_refused(editor: Neovim, scripted: ScriptedModel) -> None:
    release = threading.Event()
    scripted.default = Reply(REPLY, hold=release)
    put_cursor(editor, 5)
    editor.lua("vim.cmd('Stet refactor')")
    scripted.wait_request(1, 20)
    editor.lua("vim.api.nvim_buf_set_lines(0, 5, 6, false, { '        return 100' })")
    release.set()
    result = editor.done()
    assert (result["status"], result["applied"]) == ("refused", False), result
    assert editor.text() + "\n" == BEFORE.replace("        return 1\n", "        return 100\n", 1)
    assert any("changed" in message for message in editor.seen()["messages"])


def test_an_edit_follows_text_that_moved(editor: Neovim, scripted: ScriptedModel) -> None:
    release = threading.Event()
    scripted.default = Reply(REPLY, hold=release)
    put_cursor(editor, 5)
    editor.lua("vim.cmd('Stet refactor')")
    scripted.wait_request(1, 20)
    editor.lua("vim.api.nvim_buf_set_lines(0, 0, 0, false, { '# one', '# two' })")
    release.set()
    result = editor.done()
    assert (result["status"], result["applied"]) == ("done", True), result
    assert editor.text().startswith("# one\n# two\nimport os\n")
    assert "return (x > 0) - (x < 0)" in editor.text()
    assert "return -1" not in editor.text()


def test_an_explanation_opens_in_a_float(editor: Neovim, scripted: ScriptedModel) -> None:
    scripted.default = Reply("It gives the sign of x.")
    put_cursor(editor, 5)
    editor.lua("vim.cmd('Stet explain')")
    assert "It gives the sign of x." in editor.done()["markdown"]
    floats = editor.lua("""
      local found = {}
      for _, window in ipairs(vim.api.nvim_list_wins()) do
        if vim.api.nvim_win_get_config(window).relative ~= "" then
          local lines = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false)
          table.insert(found, table.concat(lines, "\\n"))
        end
      end
      return found
    """)
    assert any("sign of x" in text for text in floats), floats

"""Jobs in a real Neovim: started from the menu or by a command, listed, canceled."""

from __future__ import annotations

import json
import time

import pytest
from support.editors.neovim import SECONDS, Neovim
from support.editors.neovim_file import BEFORE, KEYS, OLD, bar, choose
from support.editors.signs import AFTER, REPLY
from support.servers.scripted import Reply, ScriptedModel

pytestmark = pytest.mark.editor


def test_refactor_is_applied_and_undone_in_one_step(editor: Neovim) -> None:
    # a change of the user's own first: undo must take back the edit and leave this
    editor.lua("vim.api.nvim_buf_set_lines(0, 0, 1, false, { 'import sys' })")
    editor.command("Stet refactor make it one line")
    result = editor.done()
    assert (result["status"], result["applied"]) == ("done", True), result
    typed = BEFORE.replace("import os", "import sys")
    assert editor.text() == typed.replace(OLD, AFTER)
    editor.command("undo")
    assert editor.text() == typed


def test_an_action_chosen_from_the_menu_is_applied(editor: Neovim) -> None:
    choose(editor, "refactor.rewrite.stet.refactor")
    assert editor.done()["applied"] is True
    assert editor.text() == BEFORE.replace(OLD, AFTER)


def test_the_command_works_on_the_lines_of_its_range(editor: Neovim, scripted: ScriptedModel) -> None:
    scripted.default = Reply("CODE:\n```python\ndef other(y):\n    return y or y\n```\n")
    editor.command("13,14Stet refactor")
    assert editor.done()["applied"] is True
    assert editor.text() == BEFORE.replace("return y\n", "return y or y\n")


def test_the_instruction_and_the_diagnostics_reach_the_model(editor: Neovim, scripted: ScriptedModel) -> None:
    editor.lua("""
      local namespace = vim.api.nvim_create_namespace("lint")
      vim.diagnostic.set(namespace, 0, { { lnum = 4, col = 4, message = "this branch is odd", severity = 2 } })
    """)
    editor.command("Stet debug keep the name")
    prompt = scripted.wait_request().prompt
    assert "this branch is odd" in prompt
    assert "keep the name" in prompt
    editor.wait(KEYS)  # no check ran the fix, so it is shown first
    editor.press("a")
    editor.done()


def test_progress_begins_and_ends_once(editor: Neovim) -> None:
    editor.command("Stet refactor")
    editor.done()
    # a job may end before the editor has agreed to its progress, which begins and ends then
    editor.wait("#_G.seen.progress > 0 and _G.seen.progress[#_G.seen.progress].value.kind == 'end'")
    kinds = [params["value"]["kind"] for params in editor.seen()["progress"]]
    assert kinds[0] == "begin"
    assert kinds[-1] == "end"
    assert (kinds.count("begin"), kinds.count("end")) == (1, 1)


def test_without_an_action_the_command_lists_those_available_at_the_cursor(editor: Neovim) -> None:
    editor.lua(
        "vim.ui.select = function(items) _G.titles = vim.tbl_map(function(i) return i.action.title end, items) end"
    )
    titles: list[str] = []
    deadline = time.monotonic() + SECONDS
    while "Refactor `sign`" not in titles:
        # Names of units are read in the background; until they are there the titles do without them.
        assert time.monotonic() < deadline, titles
        editor.lua("_G.titles = nil")
        editor.command("Stet")
        editor.wait("_G.titles ~= nil")
        titles = editor.lua("return _G.titles")
    assert "Explain `sign`" in titles


def test_the_command_completes_actions_but_not_free_text(editor: Neovim) -> None:
    def completed(line: str) -> list[str]:
        found: list[str] = editor.lua(f"return vim.fn.getcompletion({json.dumps(line)}, 'cmdline')")
        return found

    assert completed("Stet cl") == ["clear"]
    assert completed("Stet re") == ["refactor", "report", "restart", "retry", "review"]
    assert completed("2,3Stet ex") == ["explain"]
    assert completed("Stet refactor re") == []


def test_the_command_runs_actions_that_were_added_and_lists_them(editor: Neovim, scripted: ScriptedModel) -> None:
    editor.command("Stet documnt")
    editor.wait_message(", verify, document")
    assert scripted.requests == []

    editor.command("Stet document")
    assert "Document sign" in scripted.wait_request().prompt
    editor.done()


def test_cancel_stops_the_reply_and_keeps_the_text(editor: Neovim, scripted: ScriptedModel) -> None:
    scripted.default = Reply(REPLY, stall_after=2)
    editor.command("Stet refactor")
    scripted.wait_request()
    editor.wait("require('stet').last_job ~= nil")
    editor.command("Stet cancel")
    scripted.wait_disconnect()
    assert editor.done()["status"] == "cancelled"
    assert editor.text() == BEFORE
    editor.wait_message("Stet: refactor signs.py was cancelled")
    editor.command("Stet cancel")
    editor.wait_message("Stet: nothing runs; nothing was cancelled")


def test_cancelling_the_progress_stops_the_reply(editor: Neovim, scripted: ScriptedModel) -> None:
    scripted.default = Reply(REPLY, stall_after=2)
    editor.command("Stet refactor")
    scripted.wait_request()
    editor.wait("_G.seen.progress[1] ~= nil")
    editor.lua("""
      local client = vim.lsp.get_clients({ name = "stet" })[1]
      client:notify("window/workDoneProgress/cancel", { token = _G.seen.progress[1].token })
    """)
    scripted.wait_disconnect()
    assert editor.done()["status"] == "cancelled"
    assert editor.text() == BEFORE


def test_jobs_are_listed_with_their_whole_messages(editor: Neovim) -> None:
    editor.lua("vim.o.columns = 60")
    editor.command("Stet refactor")
    message = editor.done()["message"]
    editor.command("Stet jobs")
    editor.wait("vim.bo.buftype == 'nofile'")
    assert len(message) > 60
    assert message in editor.text()
    assert editor.text().startswith("refactor signs.py  done  ")
    editor.press("e")
    editor.wait("vim.startswith(vim.api.nvim_get_current_line(), '# Evidence')")
    assert bar(editor) == " q  Close"


def test_an_older_job_can_be_cancelled_and_the_status_counts_both(editor: Neovim, scripted: ScriptedModel) -> None:
    scripted.default = Reply(REPLY, stall_after=2)
    editor.command("Stet refactor")
    scripted.wait_request()
    editor.wait("require('stet').last_job ~= nil")
    editor.lua("_G.first = require('stet').last_job")
    editor.wait("require('stet').status() == 'Stet: refactor signs.py'")
    editor.command("Stet explain")
    editor.wait("require('stet').last_job ~= _G.first")
    editor.wait("require('stet').status() == 'Stet: 2 running'")
    editor.lua("_G.native_select = vim.ui.select; vim.ui.select = function(items, options, chosen)"
               " _G.titles = vim.tbl_map(options.format_item, items); chosen(items[2]) end")  # fmt: skip
    editor.command("Stet cancel")
    editor.done()
    titles = editor.lua("vim.ui.select = _G.native_select; return _G.titles")
    assert [title.split()[0] for title in titles] == ["explain", "refactor"]
    editor.command(f"Stet cancel {editor.lua('return require([[stet]]).last_job')}")
    assert editor.done(2)["status"] == "cancelled"
    editor.wait("vim.startswith(require('stet').status(), 'Stet ✓')")


def test_a_plan_is_a_buffer_that_writing_runs_and_tasks_are_listed(editor: Neovim, scripted: ScriptedModel) -> None:
    scripted.on(lambda body: "Plan the change, step by step" in str(body["messages"]), TWO_STEPS)
    editor.command("Stet plan shorter signs, and a function for zero")
    editor.wait("vim.api.nvim_buf_get_name(0):match('^stet%-plan://') ~= nil")
    assert "- [x] 1. refactor | signs.py | sign | compare once" in editor.text()
    editor.command("%s/\\[x\\] 2/[ ] 2/")
    editor.command("write")
    result = editor.done()
    assert result["status"] == "done", result
    assert [each["enabled"] for each in result["answer"]["plan"]["steps"]] == [True, False]
    editor.command("Stet tasks")
    editor.wait_message("done", "shorter signs, and a function for zero")


TWO_STEPS = "1. refactor | signs.py | sign | compare once\n2. generate | signs.py | zero | gives 0\n"

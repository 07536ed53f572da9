"""Edits that a real Neovim asks about: a diff in place, its keys, and what closes it."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator

import pytest
from support.editors.neovim import Neovim
from support.editors.neovim_file import BEFORE, KEYS, OLD, bar, put_cursor
from support.editors.signs import AFTER, REPLY
from support.servers.scripted import Reply, ScriptedModel

pytestmark = pytest.mark.editor


WRONG = "def sign(x):\n    return (x > 0) + (x < 0)\n"


SHOWN = "vim.startswith(vim.api.nvim_buf_get_name(0), 'stet://')"
"""True while an edit is shown in the place of its code."""

DRAWN = """(function()
  local found = {}
  local namespace = vim.api.nvim_get_namespaces()["stet.preview"]
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, namespace, 0, -1, { details = true })) do
    for _, row in ipairs(mark[4].virt_lines or {}) do table.insert(found, { vim.trim(row[1][1]), row[1][2] }) end
    if mark[4].line_hl_group then table.insert(found, { vim.fn.getline(mark[2] + 1), mark[4].line_hl_group }) end
  end
  return found
end)()"""
"""What is drawn of an edit, line by line with its color: the verdict, old lines, new lines."""


@pytest.fixture
def offered(editor: Neovim, scripted: ScriptedModel) -> Neovim:
    """An editor whose screen is small, and whose user is asked about an edit that a judge refuted."""
    scripted.default = Reply(f"CODE:\n```python\n{WRONG}```\n")
    editor.lua("vim.o.lines, vim.o.columns = 20, 100")
    editor.command("Stet refactor")
    editor.wait(SHOWN)
    return editor


def test_a_refuted_edit_is_a_diff_in_place_below_its_verdict(offered: Neovim) -> None:
    assert offered.text() == BEFORE.replace(OLD, WRONG)
    assert len(offered.windows(floating=False)) == 1
    drawn = offered.lua(f"return {DRAWN}")
    assert re.fullmatch(r"✗ changes behavior: `sign\(-\d+\)` was: -1, now: 1", drawn[0][0])
    assert drawn[0][1] == "DiagnosticError"
    assert ["if x > 0:", "DiffDelete"] in drawn
    assert ["    return (x > 0) + (x < 0)", "DiffAdd"] in drawn
    offered.command("Stet refactor")
    offered.wait_message("an edit waits here: `a` applies it")
    expected = " a  Apply    q  Discard    r  Try again…    e  Evidence    x  Drop this change    d  Diff"
    assert bar(offered) == expected
    offered.wait(KEYS)
    offered.press("e")
    offered.wait("vim.startswith(vim.api.nvim_get_current_line(), '# Evidence')")
    assert "- ✗ **differential**: " in offered.text()
    assert "counter_example_sign.py" in offered.text()
    offered.press("q")
    offered.wait(SHOWN)
    offered.press("a")
    assert offered.done()["applied"] is True
    assert offered.text() == BEFORE.replace(OLD, WRONG)
    assert len(offered.windows(floating=False)) == 1


TWO = "import os\n\n\ndef sign(x):\n    a = 1\n    b = 2\n    c = 3\n    d = 4\n    return a + b + c + d\n"


def test_hunks_are_visited_and_dropped_and_the_rest_is_judged_again(editor: Neovim, scripted: ScriptedModel) -> None:
    after = TWO.replace("a = 1", "z = 9").replace("return a", "return z")
    scripted.default = Reply(f"CODE:\n```python\n{after[after.index('def') :]}```\n")
    editor.lua(f"vim.api.nvim_buf_set_lines(0, 0, -1, false, {{ {', '.join(map(json.dumps, TWO.splitlines()))} }})")
    put_cursor(editor, 5)
    editor.command("Stet refactor")
    editor.wait(SHOWN)
    editor.wait(KEYS)
    lines = []
    for keys in ("", "]c", "[c"):
        editor.press(keys)
        editor.wait(f"vim.fn.line('.') == {9 if keys == ']c' else 5}")
        lines.append(editor.lua("return vim.api.nvim_get_current_line()"))
    assert lines == ["    z = 9", "    return z + b + c + d", "    z = 9"]
    editor.press("x")
    editor.wait("vim.fn.getline(5) == '    a = 1'")
    editor.press("a")  # the other half uses a name that is gone: the server offers it again
    editor.wait(f"#({DRAWN}) > 0 and ({DRAWN})[1][1]:find('in the part you kept', 1, true)")
    editor.wait(KEYS)
    editor.press("q")
    assert editor.done()["message"] == "Edit discarded."
    assert editor.text() == TWO


def test_a_real_diff_can_be_edited_and_applied(offered: Neovim) -> None:
    offered.wait(KEYS)
    offered.press("d")
    offered.wait("vim.wo.diff and #vim.api.nvim_list_wins() == 2")
    offered.lua("vim.api.nvim_buf_set_lines(0, 4, 5, false, { '    return (x > 0) - (x < 0)' })")
    offered.press("a")
    assert offered.done()["applied"] is True
    assert offered.text() == BEFORE.replace(OLD, AFTER)
    assert not offered.lua("return vim.wo.diff")


@pytest.mark.parametrize("way", ["q", ":quit<CR>"])
def test_closing_the_question_declines_the_edit(offered: Neovim, way: str) -> None:
    offered.wait(KEYS)
    offered.press(way)
    result = offered.done()
    assert (result["status"], result["message"]) == ("refused", "Edit discarded.")
    assert offered.text() == BEFORE
    offered.command("Stet evidence")
    offered.wait("vim.bo.filetype == 'markdown'")
    assert "+    return (x > 0) + (x < 0)" in offered.text(), "what was discarded is still to be read"


def test_a_question_ignores_keys_in_insert_mode(editor: Neovim, scripted: ScriptedModel) -> None:
    release = threading.Event()
    scripted.default = Reply(f"CODE:\n```python\n{WRONG}```\n", hold=release)
    editor.command("Stet refactor")
    editor.press("Goa")
    editor.wait("vim.api.nvim_get_mode().mode == 'i'")
    release.set()
    editor.wait_message("a question waits for you")
    editor.press("qa<Esc>")
    editor.wait("vim.api.nvim_get_mode().mode == 'n'")
    assert editor.text() == f"{BEFORE}aqa\n"
    assert editor.seen()["messages"] == ["Stet: a question waits for you (:Stet answer)"]
    editor.command("Stet answer")
    assert editor.lua(f"return {SHOWN}")
    editor.command("Stet cancel")
    assert editor.done()["status"] == "cancelled"
    assert len(editor.windows(floating=False)) == 1, "who is asked no more sees no question"


@pytest.fixture
def clock(editor: Neovim) -> Iterator[Callable[[int], None]]:
    """Sets the editor's clock, which stands still, to so many milliseconds; `_G.looks` counts who looked since."""
    editor.lua("_G.clock, vim.uv.now = vim.uv.now, function() _G.looks = (_G.looks or 0) + 1 return _G.time or 0 end")
    yield lambda time: editor.lua(f"_G.time, _G.looks = {time}, 0")
    editor.lua("vim.uv.now, _G.clock, _G.time = _G.clock, nil, nil")


def test_keys_typed_ahead_do_not_answer_a_question(
    editor: Neovim, scripted: ScriptedModel, clock: Callable[[int], None]
) -> None:
    scripted.default = Reply(f"CODE:\n```python\n{WRONG}```\n")
    editor.command("Stet refactor")
    editor.wait(SHOWN)
    editor.lua("vim.api.nvim_win_set_cursor(0, { 5, 0 })")
    for key in range(1, 5):  # each 299 ms after the one before
        clock(299 * key)
        editor.wait("_G.looks >= 2")
        assert editor.lua("return vim.fn.maparg('a', 'n')") == "", "more than a second of keys without a pause"
        editor.press("l")
        editor.wait(f"vim.fn.col('.') == {key + 1}")
    clock(299 * 4 + 300)
    editor.wait(KEYS)
    editor.press("q")
    assert editor.done()["status"] == "refused"


def test_a_question_closes_when_its_server_stops(offered: Neovim) -> None:
    offered.lua("vim.lsp.get_clients({ name = 'stet' })[1]:stop(true)")
    offered.wait("#vim.api.nvim_list_wins() == 1")
    offered.wait_message("Stet: the server ended; its question is gone and nothing was changed")
    assert not [text for text in offered.seen()["messages"] if "started again" in text], offered.seen()["messages"]
    assert offered.text() == BEFORE


def test_a_question_of_any_kind_has_a_key_for_each_choice(editor: Neovim) -> None:
    editor.lua("""
      local actions = { { title = "Run it anyway" }, { title = "Read 100 %" }, { title = "No" } }
      local ask = vim.lsp.config.stet.handlers["window/showMessageRequest"]
      coroutine.wrap(function()
        _G.chosen = ask(nil, { message = "May it?", actions = actions }, { client_id = 1 })
      end)()
    """)
    editor.wait(KEYS)
    assert bar(editor) == " r  Run it anyway    a  Read 100 %    q  No"
    editor.press("a")
    editor.wait("_G.chosen ~= nil")
    assert editor.lua("return _G.chosen") == {"title": "Read 100 %"}


def test_choices_that_do_not_fit_in_a_line_are_listed(editor: Neovim) -> None:
    editor.lua("""
      vim.o.columns = 100
      local actions = { { title = ("Model one "):rep(6) }, { title = ("Some other "):rep(6) } }
      local ask = vim.lsp.config.stet.handlers["window/showMessageRequest"]
      coroutine.wrap(function()
        _G.chosen = ask(nil, { message = "Which?", actions = actions }, { client_id = 1 })
      end)()
    """)
    editor.wait(KEYS)
    assert [line for line in editor.text().splitlines() if line][:3] == [
        "Which?", "`m`  " + "Model one " * 6, "`s`  " + "Some other " * 6,
    ]  # fmt: skip
    editor.press("s")
    editor.wait("_G.chosen ~= nil")
    assert editor.lua("return _G.chosen.title").startswith("Some other")


def test_a_refused_edit_can_be_tried_again_with_another_instruction(offered: Neovim, scripted: ScriptedModel) -> None:
    offered.lua("_G.native_input = vim.ui.input; vim.ui.input = function(_, chosen) chosen('keep zero') end")
    scripted.default = Reply(REPLY)
    offered.wait(KEYS)
    offered.press("r")
    result = offered.done(2)
    assert result["applied"] is True, result
    offered.lua("vim.ui.input = _G.native_input")
    assert "keep zero" in scripted.requests[-1].prompt

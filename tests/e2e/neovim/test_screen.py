"""A real Neovim on a terminal, with its own menus and messages: nothing stops at "Press ENTER"."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from support.editors.neovim import SECONDS, Neovim, plugin
from support.editors.neovim_file import KEYS as KEYS_COUNT
from support.editors.neovim_picture import picture
from support.editors.signs import BEFORE, REPLY
from support.processes.stet import stet_argv
from support.servers.scripted import Reply, ScriptedModel

pytestmark = pytest.mark.editor


@pytest.fixture(scope="module")
def terminal(tmp_path_factory: pytest.TempPathFactory, environment: Mapping[str, str]) -> Iterator[Neovim]:
    """A Neovim with our plugin on a terminal."""
    folder = tmp_path_factory.mktemp("nvim")
    with Neovim(folder, environment, plugin([*stet_argv(), "--stdio"]), screen=(45, 140)) as nvim:
        yield nvim


@pytest.fixture
def editor(terminal: Neovim, file: Path) -> Iterator[Neovim]:
    """The editor with the file open and the cursor in `sign`."""
    terminal.open(file)
    terminal.lua("vim.api.nvim_win_set_cursor(0, { 5, 4 })")
    yield terminal
    if terminal.mode()["blocking"]:  # the next test is to have an editor that listens
        terminal.press("<CR>")


def until(nvim: Neovim, condition: str) -> None:
    """Waits for what is true while the editor never stops at a prompt for <Enter>; asked in its mode `c`, too.

    A long message is drawn with a prompt that ends by itself (`messagesopt` with `wait:0`): that is no stop.
    """
    deadline = time.monotonic() + SECONDS
    prompts = 0
    while not nvim.lua(f"return {condition}", at_once=True):
        mode = nvim.mode()
        assert not mode["blocking"], mode
        prompts = prompts + 1 if mode["mode"][0] == "r" else 0
        assert prompts < 100, mode
        assert time.monotonic() < deadline, f"not within {SECONDS} s: {condition}, {mode}"
        time.sleep(0.005)


def open_menu(nvim: Neovim, keys: str) -> str:
    """Opens the list of actions by keys; returns the number of the one that refactors."""
    nvim.lua("""
      local inputlist = vim.fn.inputlist
      vim.fn.inputlist = function(choices)
        _G.choices, vim.fn.inputlist = choices, inputlist
        return inputlist(choices)
      end
    """)
    nvim.press(keys)
    until(nvim, "_G.choices ~= nil and vim.api.nvim_get_mode().mode == 'c'")
    titles = nvim.lua("local choices = _G.choices; _G.choices = nil; return choices", at_once=True)
    return next(title.split(":")[0] for title in titles if ": Refactor" in title)


KEYS = (":Stet<CR>", "gra")

DONE = "#_G.seen.done == 1"


@pytest.mark.parametrize("keys", KEYS)
def test_an_action_chosen_from_the_list_starts_at_once(editor: Neovim, scripted: ScriptedModel, keys: str) -> None:
    scripted.default = Reply(REPLY, stall_after=2)
    number = open_menu(editor, keys)
    editor.press(f"{number}<CR>")
    until(editor, "require('stet').last_job ~= nil")
    scripted.wait_request()
    editor.press(":Stet cancel<CR>")
    until(editor, DONE)
    until(editor, "#_G.seen.messages > 0")


def test_a_list_stays_open_while_another_job_ends(editor: Neovim, scripted: ScriptedModel) -> None:
    release = threading.Event()
    scripted.default = Reply("CODE:\n```python\ndef sign(number:\n```\n", hold=release)
    editor.press(":Stet refactor<CR>")
    scripted.wait_request()
    number = open_menu(editor, ":Stet<CR>")
    release.set()
    until(editor, DONE)
    assert editor.mode()["mode"] == "c"
    scripted.default = Reply(REPLY)
    editor.press(f"{number}<CR>")
    until(editor, "#_G.seen.done == 2")
    assert editor.seen()["done"][1]["applied"] is True


def test_a_long_message_is_one_line_and_whole_in_messages(editor: Neovim) -> None:
    message = "no edit, the reply has no code: " + "words of the model " * 8 + "end"
    editor.lua(f"""
      _G.columns, _G.echo, vim.o.columns = vim.o.columns, vim.api.nvim_echo, 80
      vim.api.nvim_echo = function(chunks, ...)
        _G.line = chunks[1][1]
        return _G.echo(chunks, ...)
      end
      vim.schedule(function() require('stet.messages').say('{message}') end)
    """)
    until(editor, "_G.line ~= nil and vim.endswith(_G.line, '… (:messages)')")
    assert len(editor.lua("return _G.line")) == 68
    assert editor.lua("return vim.fn.execute('messages')").endswith(f"Stet: {message}")
    editor.lua("vim.api.nvim_echo, vim.o.columns = _G.echo, _G.columns")


def test_a_reply_without_code_needs_no_key_press(editor: Neovim, scripted: ScriptedModel) -> None:
    scripted.default = Reply("I can not do that, and these words say so at length, beyond what one line has room for.")
    columns = editor.lua("local old = vim.o.columns; vim.o.columns = 80; return old")
    editor.press(":Stet refactor<CR>")
    until(editor, DONE)
    assert editor.seen()["done"][0]["status"] != "done"
    until(editor, "vim.api.nvim_get_mode().mode == 'n'")
    editor.lua(f"vim.o.columns = {columns}")


ASKING = {
    "select": "vim.ui.select({ 'one', 'two' }, {}, chosen)",
    "input": "vim.ui.input({ prompt = 'some\\nlines: ' }, chosen)",
}


def test_a_failing_endpoint_stays_on_the_line(editor: Neovim, scripted: ScriptedModel) -> None:
    scripted.default = Reply.failure(401, "no such key")
    columns = editor.lua("local old = vim.o.columns; vim.o.columns = 80; return old")
    editor.press(":Stet refactor<CR>")
    editor.wait(DONE)
    editor.wait("vim.fn.screenstring(vim.o.lines, 68) == ')'")
    assert re.fullmatch(
        r"Stet: STET_BASE_URL rejected the key \(401\): no such key.*… \(:messages\)", row(editor, "vim.o.lines")
    )
    assert editor.mode()["mode"] == "n"
    editor.lua(f"vim.o.columns = {columns}")


MESSAGES = {
    "say": "require('stet.messages').say('a message')",
    "hint": "require('stet.messages').hint('a message', 'a hint')",
    "begin": "require('stet.progress').begin('a job')",
    "tell": "require('stet.progress').tell('a sentence')",
}


@pytest.mark.parametrize("asking", ASKING)
@pytest.mark.parametrize("message", MESSAGES)
def test_the_first_message_needs_no_key_press(editor: Neovim, asking: str, message: str) -> None:
    editor.lua(f"""
      _G.asked = nil
      function _G.ask()
        local function chosen() {MESSAGES[message]}; _G.asked = true end
        {ASKING[asking]}
      end
    """)
    editor.lua("vim.schedule(_G.ask)")  # as after an answer of the server
    until(editor, "vim.api.nvim_get_mode().mode == 'c'")
    editor.press("1<CR>")
    until(editor, "_G.asked")
    until(editor, "vim.api.nvim_get_mode().mode == 'n'")


@pytest.fixture
def plugin_list(editor: Neovim) -> Iterator[Neovim]:
    """An editor with a list as plugins have it: in a window of its own in which one types, and it answers later."""
    editor.lua("""
      _G.native = vim.ui.select
      vim.ui.select = function(items, options, on_choice)
        local bufnr = vim.api.nvim_create_buf(false, true)
        vim.api.nvim_open_win(bufnr, true, { relative = "editor", row = 5, col = 5, width = 40, height = 9 })
        vim.keymap.set("i", "<CR>", function()
          vim.cmd.stopinsert()
          vim.api.nvim_buf_delete(bufnr, { force = true })
          vim.defer_fn(function()
            on_choice(vim.iter(items):find(function(item)
              return vim.startswith(options.format_item(item), "Refactor")
            end))
          end, 50)
        end, { buffer = bufnr })
        vim.cmd.startinsert()
      end
    """)
    yield editor
    editor.lua("vim.ui.select = _G.native")


@pytest.mark.parametrize("keys", KEYS)
def test_the_list_of_a_plugin_may_answer_later(plugin_list: Neovim, keys: str) -> None:
    plugin_list.press(keys)
    until(plugin_list, "vim.api.nvim_get_mode().mode == 'i'")
    plugin_list.press("<CR>")
    until(plugin_list, DONE)
    assert plugin_list.seen()["done"][0]["applied"] is True


def row(nvim: Neovim, number: str) -> str:
    """A row of the screen as it is drawn; "1" is the first, "vim.o.lines" the last."""
    drawn = f"vim.iter(vim.fn.range(1, vim.o.columns)):map(function(at) return vim.fn.screenstring({number}, at) end)"
    return str(nvim.lua(f"return {drawn}:join('')")).rstrip()


def test_the_keys_of_a_waiting_edit_and_its_reminder_fit_80_columns(
    editor: Neovim, scripted: ScriptedModel, file: Path
) -> None:
    scripted.default = Reply("CODE:\n```python\ndef sign(x):\n    return (x > 0) + (x < 0)\n```\n")
    columns = editor.lua("local old = vim.o.columns; vim.o.columns, vim.o.lines = 80, 24; return old")
    editor.command(f"cd {file.parent}")
    editor.press(":Stet refactor<CR>")
    editor.wait(KEYS_COUNT)
    picture(editor, "refuted")
    assert row(editor, "1") == " a Apply  q Discard  r Try again…  e Evidence  x Drop this change  d Diff"
    editor.press(":Stet refactor<CR>")
    editor.wait("#_G.seen.messages == 1 and vim.fn.screenstring(vim.o.lines, 1) == 'S'")
    assert row(editor, "vim.o.lines") == "Stet: an edit waits here: `a` applies it, `q` discards it"
    editor.press("q")
    until(editor, DONE)
    editor.lua(f"vim.o.columns, vim.o.lines = {columns}, 45")


def test_evidence_that_does_not_fit_next_to_the_first_line_is_seen(
    editor: Neovim, scripted: ScriptedModel, tmp_path: Path
) -> None:
    """What stands above the first line of a buffer is not drawn."""
    file = tmp_path / "first.py"
    file.write_text(BEFORE, encoding="utf-8")
    editor.open(file)
    columns = editor.lua("local old = vim.o.columns; vim.o.columns, vim.o.lines = 80, 24; return old")
    editor.command(f"cd {tmp_path}")
    editor.press(":Stet refactor<CR>")
    until(editor, DONE)
    editor.wait("vim.fn.screenstring(2, 3) == 's'")  # next to the signs of changed lines
    drawn = " ".join(row(editor, str(number)) for number in range(1, 5))
    assert "def sign(x):   stet: " in drawn
    assert " · :Stet keep · undo · evidence" in re.sub(r" +", " ", drawn)
    picture(editor, "applied")
    editor.lua(f"vim.o.columns, vim.o.lines = {columns}, 45")

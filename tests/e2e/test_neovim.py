"""The whole way in a real Neovim: attach, list, run, progress, cancel, undo, refusal."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.editors.neovim import PLUGIN, SECONDS, Neovim, plugin
from support.processes.stet import stet_argv
from support.repository import Repository
from support.servers.scripted import Reply, ScriptedModel

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

OLD = BEFORE[BEFORE.index("def sign") : BEFORE.index("\n\ndef other")]

REPLY = f"PLAN: compare once.\nCODE:\n```python\n{AFTER}```\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "signs.py"
    path.write_text(BEFORE, encoding="utf-8")
    return path


@pytest.fixture
def editor(neovim: Neovim, file: Path, scripted: ScriptedModel) -> Neovim:
    """The editor with the file open and the cursor in `sign`."""
    scripted.default = Reply(REPLY)
    neovim.open(file)
    put_cursor(neovim, 5)
    return neovim


def put_cursor(nvim: Neovim, line: int) -> None:
    nvim.lua(f"vim.api.nvim_win_set_cursor(0, {{ {line}, 4 }})")


def choose(nvim: Neovim, kind: str) -> None:
    """Picks the one action of a kind from the menu, as `gra` and a number would."""
    nvim.lua(f"vim.lsp.buf.code_action({{ apply = true, context = {{ only = {{ '{kind}' }} }} }})")


@contextmanager
def followed(nvim: Neovim, scripted: ScriptedModel, reply: str) -> Iterator[None]:
    """A job that is started in the block gets its reply once the plugin waits for its report.

    A report that no one waits for two seconds after it is there is shown by the server.
    """
    release = threading.Event()
    scripted.default = Reply(reply, hold=release)
    yield
    nvim.wait("require('stet').last_job ~= nil")
    release.set()


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
    editor.wait_said(", verify, document")
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
    editor.wait_said("Stet: refactor signs.py was cancelled")
    editor.command("Stet cancel")
    editor.wait_said("Stet: nothing runs; nothing was cancelled")


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


def test_an_edit_made_for_old_text_is_refused(editor: Neovim, scripted: ScriptedModel) -> None:
    release = threading.Event()
    scripted.default = Reply(REPLY, hold=release)
    editor.command("Stet refactor")
    scripted.wait_request()
    editor.lua("vim.api.nvim_buf_set_lines(0, 5, 6, false, { '        return 100' })")
    release.set()
    result = editor.done()
    assert (result["status"], result["applied"]) == ("refused", False), result
    assert editor.text() == BEFORE.replace("        return 1\n", "        return 100\n", 1)
    editor.wait_said("changed")


def test_an_edit_is_applied_where_its_text_moved(editor: Neovim, scripted: ScriptedModel) -> None:
    release = threading.Event()
    scripted.default = Reply(REPLY, hold=release)
    editor.command("Stet refactor")
    scripted.wait_request()
    editor.lua("vim.api.nvim_buf_set_lines(0, 0, 0, false, { '# one', '# two' })")
    release.set()
    result = editor.done()
    assert (result["status"], result["applied"]) == ("done", True), result
    assert editor.text() == "# one\n# two\n" + BEFORE.replace(OLD, AFTER)


def test_an_edit_is_applied_to_the_buffer_of_a_deleted_file(
    editor: Neovim, scripted: ScriptedModel, file: Path
) -> None:
    release = threading.Event()
    scripted.default = Reply(REPLY, hold=release)
    editor.command("Stet refactor")
    scripted.wait_request()
    file.unlink()
    release.set()
    assert editor.done()["applied"] is True
    assert editor.text() == BEFORE.replace(OLD, AFTER)
    assert not file.exists()


def test_no_edit_is_applied_after_another_checkout(editor: Neovim, scripted: ScriptedModel, file: Path) -> None:
    release = threading.Event()
    scripted.default = Reply(REPLY, hold=release)
    editor.command("Stet refactor")
    scripted.wait_request()
    elsewhere = BEFORE.replace("return 1\n", "return +1\n")
    file.write_text(elsewhere, encoding="utf-8")
    editor.command("edit!")
    release.set()
    assert editor.done()["status"] in ("refused", "cancelled")
    assert editor.text() == elsewhere


@pytest.mark.parametrize("opened", ["edit never_saved.py", "enew | setfiletype python"])
def test_a_buffer_that_was_never_saved_is_edited(editor: Neovim, opened: str) -> None:
    editor.command(opened)
    editor.lua(f"vim.api.nvim_buf_set_lines(0, 0, -1, false, vim.split({json.dumps(BEFORE.rstrip())}, '\\n'))")
    editor.attach()
    put_cursor(editor, 5)
    editor.command("Stet refactor")
    result = editor.done()
    assert result["applied"] is True, result
    assert editor.text() == BEFORE.replace(OLD, AFTER)


def test_characters_beyond_the_basic_plane_keep_their_position(
    editor: Neovim, scripted: ScriptedModel, file: Path
) -> None:
    before = "𝒳 = '🦀🦀'\n\n\ndef show(crab): return '🦀' + crab  # 🦀🦀 𝒳\n\n\nlast = '🦀'\n"
    after = before.replace("return '🦀' + crab", "return f'🦀{crab}'")
    scripted.default = Reply("CODE:\n```python\ndef show(crab): return f'🦀{crab}'  # 🦀🦀 𝒳\n```\n")
    file.write_text(before, encoding="utf-8")
    editor.command("edit!")
    editor.command("4Stet refactor")
    result = editor.done()
    assert result["applied"] is True, result
    assert editor.text() == after


def test_an_explanation_opens_once_and_can_be_reopened(editor: Neovim, scripted: ScriptedModel) -> None:
    with followed(editor, scripted, "It gives the sign of x."):
        editor.command("Stet explain")
    assert "It gives the sign of x." in editor.done()["markdown"]
    floats = editor.windows(floating=True)
    assert len(floats) == 1
    assert "It gives the sign of x." in floats[0]
    assert editor.windows(floating=False) == [BEFORE.rstrip("\n")]

    editor.command("Stet report")
    assert any("It gives the sign of x." in text for text in editor.windows(floating=False))


def test_an_explanation_chosen_from_the_menu_opens_too(editor: Neovim, scripted: ScriptedModel) -> None:
    with followed(editor, scripted, "It gives the sign of x."):
        choose(editor, "stet.explain")
    editor.done()
    assert len(editor.windows(floating=True)) == 1
    assert editor.windows(floating=False) == [BEFORE.rstrip("\n")]


def test_a_file_is_verified_and_the_verdict_is_said(editor: Neovim, file: Path) -> None:
    Repository.new(file.parent)
    editor.command("Stet verify")
    editor.wait_said("signs.py: unproven: ")


def test_health_is_shown_as_readable_lines(editor: Neovim, scripted: ScriptedModel) -> None:
    editor.command("Stet health")
    while re.search("no response within|is silent", told := editor.wait_said("ledger: ")):  # each look has its time
        editor.lua("_G.seen.messages = {}")
        editor.command("Stet health")
    lines = told.splitlines()
    assert lines[0] == f"Stet: {scripted.models[0]} (STET_BASE_URL) is ready"
    assert any(line.startswith("✓ ledger: ") for line in lines)
    assert not [line for line in lines if "table: " in line or line.endswith(": none")]


def test_evidence_opens_with_the_files_of_one_check(editor: Neovim) -> None:
    editor.command("Stet refactor")
    editor.done()
    editor.command("Stet evidence")
    editor.wait("#vim.api.nvim_list_wins() == 2")
    assert any(text.startswith("# Evidence") and "- ✓ syntax: " in text for text in editor.windows(floating=False))
    editor.command("silent only | Stet evidence differential")
    editor.wait("vim.api.nvim_buf_get_name(0):find('inputs_sign.py', 1, true)")
    assert "def main():" in editor.text()
    editor.command("Stet evidence speed")
    editor.wait_said("it has ")


def test_the_evidence_is_shown_at_the_code_until_it_changes(editor: Neovim) -> None:
    marks = """vim.tbl_map(function(mark) return { line = mark[2], text = mark[4].virt_text[1][1] } end,
      vim.api.nvim_buf_get_extmarks(0, vim.api.nvim_create_namespace("stet.lens"), 0, -1, { details = true }))"""
    editor.lua("vim.o.columns = 140")
    editor.command("Stet refactor")
    editor.done()
    editor.wait(f"#{marks} == 1")
    [mark] = editor.lua(f"return {marks}")
    assert mark["line"] == BEFORE[: BEFORE.index("def sign")].count("\n")
    assert mark["text"].startswith("  stet: same behavior on ")
    assert mark["text"].endswith(":Stet evidence · :Stet undo")
    editor.command("undo")
    editor.wait(f"#{marks} == 0")


def test_the_start_of_a_job_is_shown_at_once(editor: Neovim, scripted: ScriptedModel) -> None:
    editor.lua("_G.echo = _G.echo or vim.api.nvim_echo; _G.first = nil")
    editor.lua("vim.api.nvim_echo = function(chunks) _G.first = _G.first or chunks[1][1] end")
    editor.command("Stet refactor")
    assert editor.lua("return _G.first") == "Stet: refactor signs.py …"
    editor.done()
    editor.lua("vim.api.nvim_echo = _G.echo")


@pytest.fixture
def echoed(editor: Neovim) -> Iterator[Callable[[], list[str]]]:
    """What the last line of an editor of 60 columns showed, the newest last."""
    editor.lua("""
      _G.echoed, _G.echo, _G.columns = {}, vim.api.nvim_echo, vim.o.columns
      vim.o.columns = 60
      vim.api.nvim_echo = function(chunks, ...)
        table.insert(_G.echoed, chunks[1][1])
        return _G.echo(chunks, ...)
      end
    """)
    yield lambda: list(editor.lua("return _G.echoed"))
    editor.lua("vim.api.nvim_echo, vim.o.columns = _G.echo, _G.columns")


def test_progress_is_shown_on_the_last_line_until_the_job_ends(
    editor: Neovim, scripted: ScriptedModel, echoed: Callable[[], list[str]]
) -> None:
    release = threading.Event()
    scripted.default = Reply(REPLY, hold=release)
    editor.command("messages clear")
    editor.command("Stet refactor")
    editor.wait("#_G.seen.progress > 0")
    release.set()
    editor.done()
    editor.wait("_G.echoed[#_G.echoed]:find('^Stet: [%d-]+ %% sure: same behavior on %d+ inputs')")
    told = echoed()
    assert any(line.startswith("Stet: refactor signs.py: ") for line in told)
    assert "" in told
    assert max(map(len, told)) <= 48, "a longer line asks for <Enter>"
    assert "Workspace edit" not in editor.lua("return vim.fn.execute('messages')")


def test_the_seconds_fit_on_the_last_line_and_a_long_wait_shows_how_to_cancel(
    editor: Neovim, echoed: Callable[[], list[str]]
) -> None:
    def shown(message: str) -> str:
        value = {"kind": "report", "title": "Stet: refactor signs.py", "message": message}
        params = json.dumps(json.dumps({"token": "stet/1", "value": value}))
        editor.lua(f"""
          local client = vim.lsp.get_clients({{ name = "stet" }})[1]
          local data = {{ client_id = client.id, params = vim.json.decode({params}) }}
          require("stet.progress").show({{ data = data }})
        """)
        return echoed()[-1]

    assert shown("checking, 9 s") == "Stet: refactor signs.py: checking, 9 s"
    assert shown("checking") == "Stet: refactor signs.py: checking"
    assert shown("a model, 10 s") == "Stet: refactor signs.py: a model, 10 s", "the hint would not fit"
    editor.lua("vim.o.columns = 80")
    assert shown("asking a model, 23 s") == "Stet: refactor signs.py: asking a model, 23 s (:Stet cancel)"
    long = shown("asking a-model-with-quite-a-name-of-its-own again · 120 tokens, 123 s")
    assert long.endswith("…, 123 s")
    assert len(long) <= 68


def test_a_failure_shows_what_to_do_next(editor: Neovim, scripted: ScriptedModel) -> None:
    scripted.default = Reply.failure(401, "no such key")
    editor.lua("vim.o.columns = 300")
    editor.command("Stet refactor")
    assert editor.done()["status"] == "failed"
    told = editor.wait_said("rejected the key", ":Stet health")
    assert told.endswith("run `:Stet health` for the models, `:Stet retry` to try again")


def test_a_refusal_is_one_message_that_names_the_evidence_command(editor: Neovim, scripted: ScriptedModel) -> None:
    scripted.default = Reply("CODE:\n```python\ndef sign(number:\n```\n")
    editor.lua("vim.o.columns = 200")
    editor.command("Stet refactor")
    assert editor.done()["status"] == "refused"
    told = editor.wait_said(":Stet evidence")
    assert told.startswith("Stet: Refactor: no edit, the model's code does not parse: ")
    assert told.endswith(" :Stet evidence shows what was checked")


WRONG = "def sign(x):\n    return (x > 0) + (x < 0)\n"

KEYS = "vim.fn.maparg('q', 'n', false, true).buffer == 1"
"""True once keys count: in the first moment they were meant for the code."""


def bar(nvim: Neovim, number: int = 0) -> str:
    """What stands above the text of a window; 0 is the current one."""
    shown: str = nvim.lua(f"""
      local winid = vim.fn.win_getid({number} > 0 and {number} or vim.fn.winnr())
      return vim.api.nvim_eval_statusline(vim.wo[winid].winbar, {{ winid = winid, use_winbar = true }}).str
    """)
    return shown


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
    editor.wait(f"#({DRAWN}) > 0 and ({DRAWN})[1][1]:find('the part you kept', 1, true)")
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
    editor.wait_said("a question waits for you")
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
    offered.wait_said("Stet: the server ended; its question is gone and nothing was changed")
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


LONG = "\n\n".join(f"It gives the sign of x, part {number}." for number in range(60))


def test_a_long_report_has_the_cursor_until_it_is_closed(editor: Neovim, scripted: ScriptedModel) -> None:
    editor.command("vsplit | wincmd l")
    with followed(editor, scripted, LONG):
        editor.command("Stet explain")
    editor.done()
    assert editor.windows(floating=True) == []
    assert "part 59" in editor.text()
    assert bar(editor) == " q  Close"
    editor.press("q")
    editor.wait("#vim.api.nvim_list_wins() == 2")
    assert editor.lua("return { vim.fn.winnr(), vim.bo.filetype }") == [2, "python"], "back where it was"


def test_a_long_report_does_not_take_the_cursor_in_insert_mode(editor: Neovim, scripted: ScriptedModel) -> None:
    release = threading.Event()
    scripted.default = Reply(LONG, hold=release)
    editor.command("Stet explain")
    editor.press("Goa")
    editor.wait("vim.api.nvim_get_mode().mode == 'i'")
    release.set()
    editor.done()
    editor.press("q<Esc>")
    editor.wait("vim.api.nvim_get_mode().mode == 'n'")
    assert editor.text() == f"{BEFORE}aq\n"
    assert bar(editor, 2) == " 2 CTRL-W w  to come here, then    q  Close"
    editor.press("2<C-w>wq")
    editor.wait("#vim.api.nvim_list_wins() == 1")


def test_a_long_report_opens_after_the_command_line_window_closes(editor: Neovim, scripted: ScriptedModel) -> None:
    """That window lets no other be opened (E11)."""
    release = threading.Event()
    scripted.default = Reply(LONG, hold=release)
    editor.command("Stet explain")
    editor.press("q:")
    editor.wait("vim.fn.getcmdwintype() == ':'")
    release.set()
    editor.done()
    assert editor.lua("return { vim.fn.getcmdwintype(), #vim.api.nvim_list_wins() }") == [":", 2]

    editor.press(":quit<CR>")
    editor.wait("vim.fn.getcmdwintype() == '' and vim.bo.filetype == 'markdown'")
    assert "part 59" in editor.text()
    assert not [message for message in editor.seen()["messages"] if "E11" in message]


def test_new_tests_are_shown_in_a_split_window(editor: Neovim, scripted: ScriptedModel, file: Path) -> None:
    written = "def test_sign():\n    assert sign(5) == 1\n"
    scripted.default = Reply(f"CODE:\n```python\nfrom signs import sign\n\n\n{written}```\n")
    editor.command("Stet test")
    editor.wait(f"#_G.seen.done > 0 or {KEYS}")
    if not editor.seen()["done"]:  # where they cannot be run
        editor.press("a")
    result = editor.done()
    assert (result["status"], result.get("applied")) == ("done", True), result["message"]
    assert editor.lua("return vim.fn.expand('%:t')") == "signs.py"
    assert any(written.strip() in text for text in editor.windows(floating=False))


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


# What breaks ----------------------------------------------------------------------------------------------------------


def test_a_killed_server_is_reported_once_and_started_again(editor: Neovim, scripted: ScriptedModel) -> None:
    editor.command("Stet refactor")
    assert editor.done()["applied"] is True
    editor.command("undo")
    editor.lua("_G.old = vim.lsp.get_clients({ name = 'stet' })[1].id")
    [pid] = editor.lua("return vim.api.nvim_get_proc_children(vim.uv.os_getpid())")
    os.kill(pid, signal.SIGKILL)
    told = editor.wait_said("the server ended (signal 9); no text was changed")
    assert told.endswith("It was started again; `:Stet retry` repeats the last job")
    editor.wait("(vim.lsp.get_clients({ name = 'stet', bufnr = 0 })[1] or { id = _G.old }).id ~= _G.old")
    assert editor.text() == BEFORE
    editor.command("Stet retry")
    assert editor.done(2)["applied"] is True
    assert editor.text() == BEFORE.replace(OLD, AFTER)


def test_a_missing_server_is_reported_with_a_fix(tmp_path: Path, environment: Mapping[str, str], file: Path) -> None:
    with Neovim(tmp_path, environment, plugin(["/no/such/stet", "--stdio"])) as nvim:
        nvim.command(f"edit {file}")
        told = nvim.wait_said("/no/such/stet", ":Stet restart")
        assert "not installed or not on PATH" in told
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


# Asking ---------------------------------------------------------------------------------------------------------------


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
    editor.wait_said("Stet uses mine at http://127.0.0.1:9/v1.", "The variable STET_BASE_URL overrides that.")
    assert "qwen2.5-coder" in editor.lua("return table.concat(_G.titles, '\\n')").lower()
    assert 'api_key_env = "MY_KEY"' in chosen.read_text()
    chosen.unlink()
    editor.lua("vim.ui.select, vim.ui.input, vim.fn.inputsecret = _G.native_select, _G.native_input, _G.native_secret")


def test_a_task_without_an_instruction_starts_nothing(input_box: Neovim, scripted: ScriptedModel) -> None:
    input_box.lua("_G.reply = ''")
    input_box.command("Stet task")
    input_box.wait("#_G.prompts == 1")
    assert input_box.lua("return require('stet').last_job") is None


# What is shown --------------------------------------------------------------------------------------------------------


def test_a_refused_edit_can_be_tried_again_with_another_instruction(offered: Neovim, scripted: ScriptedModel) -> None:
    offered.lua("_G.native_input = vim.ui.input; vim.ui.input = function(_, chosen) chosen('keep zero') end")
    scripted.default = Reply(REPLY)
    offered.wait(KEYS)
    offered.press("r")
    result = offered.done(2)
    assert result["applied"] is True, result
    offered.lua("vim.ui.input = _G.native_input")
    assert "keep zero" in scripted.requests[-1].prompt


def test_a_second_explanation_replaces_the_first(editor: Neovim, scripted: ScriptedModel) -> None:
    for number, text in enumerate(["It gives the sign.", "It compares with zero."], start=1):
        editor.lua("require('stet').last_job = nil")
        with followed(editor, scripted, text):
            editor.command("Stet explain")
        editor.done(number)
        [shown] = editor.windows(floating=True)
        assert text in shown


def test_undo_takes_back_the_edit_and_leaves_what_is_typed(editor: Neovim, scripted: ScriptedModel) -> None:
    release = threading.Event()
    scripted.default = Reply(REPLY, hold=release)
    editor.command("Stet refactor")
    editor.press("Gotyped")
    editor.wait("vim.fn.getline('$') == 'typed'")
    release.set()
    assert editor.done()["applied"] is True
    editor.press(" more<Esc>")
    editor.wait("vim.api.nvim_get_mode().mode == 'n'")
    assert editor.text() == BEFORE.replace(OLD, AFTER) + "typed more\n"
    editor.command("undo")
    editor.command("undo")
    assert editor.text() == BEFORE + "typed\n"


# Jobs -----------------------------------------------------------------------------------------------------------------


def test_changed_lines_are_marked_until_they_are_saved_and_the_target_while_its_job_runs(
    editor: Neovim, scripted: ScriptedModel
) -> None:
    def marked(name: str) -> list[int]:
        marks = f"vim.api.nvim_buf_get_extmarks(0, vim.api.nvim_create_namespace('stet.{name}'), 0, -1, {{}})"
        lines: list[int] = editor.lua(f"return vim.tbl_map(function(mark) return mark[2] + 1 end, {marks})")
        return lines

    release = threading.Event()
    scripted.default = Reply(REPLY, hold=release)
    editor.command("Stet refactor")
    editor.wait("#vim.api.nvim_buf_get_extmarks(0, vim.api.nvim_create_namespace('stet.target'), 0, -1, {}) > 0")
    assert marked("target") == [*range(4, 11)]
    release.set()
    assert editor.done()["applied"] is True
    assert (marked("target"), marked("changed")) == ([], [5])
    editor.command("write")
    assert marked("changed") == []


def test_its_own_undo_takes_back_the_edit_alone(editor: Neovim) -> None:
    editor.command("Stet refactor")
    assert editor.done()["applied"] is True
    editor.lua("vim.api.nvim_buf_set_lines(0, 0, 0, false, { 'first' })")
    editor.lua("vim.api.nvim_buf_set_lines(0, -1, -1, false, { 'last' })")
    editor.command("Stet undo")
    assert editor.text() == f"first\n{BEFORE}last\n"
    editor.command("Stet undo")
    editor.wait_said("no edit to undo")


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
    editor.wait("require('stet').status() == 'Stet ✓'")


def test_findings_of_analyze_fill_the_quickfix_list_the_confirmed_ones_first(
    editor: Neovim, scripted: ScriptedModel
) -> None:
    editor.lua("vim.api.nvim_buf_set_lines(0, 0, -1, false, "
               "{ 'import os', '', 'def first(items):', '    return items[0]' })")  # fmt: skip
    put_cursor(editor, 4)
    with followed(editor, scripted, "- `return items[0]` | bug | first([]) raises IndexError"):
        editor.command("1,4Stet analyze")
    result = editor.done()
    rows = editor.lua("return vim.fn.getqflist()")
    assert rows, result
    assert rows[0]["lnum"] == 4, rows
    assert "confirmed: `first([])` raises IndexError" in rows[0]["text"]
    assert 1 in [row["lnum"] for row in rows]

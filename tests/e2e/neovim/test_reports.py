"""What a real Neovim opens: explanations, evidence, health, findings, new tests."""

from __future__ import annotations

import re
import threading
from pathlib import Path

import pytest
from support.editors.neovim import Neovim
from support.editors.neovim_file import BEFORE, KEYS, bar, choose, followed, put_cursor
from support.repository import Repository
from support.servers.scripted import Reply, ScriptedModel

pytestmark = pytest.mark.editor


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
    editor.wait_message("signs.py: unproven: ")


def test_health_is_a_window_of_readable_lines(editor: Neovim, scripted: ScriptedModel) -> None:
    editor.lua("vim.o.columns = 80")
    editor.command("Stet health")
    shown = "vim.api.nvim_buf_get_lines(0, 0, 1, false)[1] == '# Health'"
    editor.wait(shown)
    while re.search("no response within|is silent", editor.text()):  # each look has its time
        editor.command("close")
        editor.command("Stet health")
        editor.wait(shown)
    lines = editor.text().splitlines()
    assert lines[2] == f"{scripted.models[0]} (STET_BASE_URL) is ready"
    assert any(line.startswith("- ✓ ledger: ") for line in lines)
    assert not [line for line in lines if "table: " in line or line.endswith(": none")]
    editor.press("q")
    editor.wait("#vim.api.nvim_list_wins() == 1")


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
    editor.wait_message("it has ")


LENSES = """vim.tbl_map(function(mark) return { line = mark[2], text = mark[4].virt_text[1][1] } end,
  vim.api.nvim_buf_get_extmarks(0, vim.api.nvim_create_namespace("stet.lens"), 0, -1, { details = true }))"""


def test_the_evidence_is_shown_at_the_code_until_it_changes(editor: Neovim) -> None:
    editor.lua("vim.o.columns = 140")
    editor.command("Stet refactor")
    editor.done()
    editor.wait(f"#{LENSES} == 1")
    [mark] = editor.lua(f"return {LENSES}")
    assert mark["line"] == BEFORE[: BEFORE.index("def sign")].count("\n")
    assert mark["text"].startswith("  stet: same behavior on ")
    assert mark["text"].endswith(" · :Stet keep · undo · evidence")
    editor.command("undo")
    editor.wait(f"#{LENSES} == 0")


def test_a_kept_edit_has_neither_evidence_nor_marks(editor: Neovim) -> None:
    changed = "vim.api.nvim_buf_get_extmarks(0, vim.api.nvim_create_namespace('stet.changed'), 0, -1, {})"
    editor.lua("vim.o.columns = 140")
    editor.command("Stet keep")
    editor.wait_message("no edit to keep in this buffer")
    editor.command("Stet refactor")
    editor.done()
    editor.wait(f"#{LENSES} == 1 and #{changed} == 1")
    after = editor.text()
    editor.command("Stet keep")
    editor.wait(f"#{LENSES} == 0 and #{changed} == 0")
    assert editor.text() == after


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


def test_a_second_explanation_replaces_the_first(editor: Neovim, scripted: ScriptedModel) -> None:
    for number, text in enumerate(["It gives the sign.", "It compares with zero."], start=1):
        editor.lua("require('stet').last_job = nil")
        with followed(editor, scripted, text):
            editor.command("Stet explain")
        editor.done(number)
        [shown] = editor.windows(floating=True)
        assert text in shown


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
    editor.wait("vim.bo.filetype == 'markdown'")
    text = editor.text()
    assert text.index("## Confirmed by a run") < text.index("## Measured")
    folded = "vim.tbl_map(function(line) return vim.fn.foldclosed(line) end, vim.fn.range(1, vim.fn.line('$')))"
    closed = {line for line in editor.lua(f"return {folded}") if line > 0}
    assert [text.splitlines()[line - 1].split("|")[1].strip() for line in sorted(closed)] == ["function", "measure"]

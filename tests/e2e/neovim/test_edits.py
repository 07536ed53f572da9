"""Edits in a real Neovim: where they land, which are refused, and how they are undone."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest
from support.editors.neovim import Neovim
from support.editors.neovim_file import BEFORE, OLD, put_cursor
from support.editors.signs import AFTER, REPLY
from support.servers.scripted import Reply, ScriptedModel

pytestmark = pytest.mark.editor


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
    editor.wait_message("changed")


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


def test_an_undo_of_a_part_of_a_line_takes_its_mark_away(editor: Neovim, scripted: ScriptedModel) -> None:
    scripted.default = Reply(f"CODE:\n```python\n{OLD.replace('x < 0', '0 > x')}```\n")
    marks = "#vim.api.nvim_buf_get_extmarks(0, vim.api.nvim_create_namespace('stet.changed'), 0, -1, {})"
    editor.command("Stet refactor")
    assert editor.done()["applied"] is True
    editor.wait(f"{marks} == 1")
    editor.press("u")
    editor.wait(f"{marks} == 0")
    assert editor.text() == BEFORE


def test_its_own_undo_takes_back_the_edit_alone(editor: Neovim) -> None:
    editor.command("Stet refactor")
    assert editor.done()["applied"] is True
    editor.lua("vim.api.nvim_buf_set_lines(0, 0, 0, false, { 'first' })")
    editor.lua("vim.api.nvim_buf_set_lines(0, -1, -1, false, { 'last' })")
    editor.command("Stet undo")
    assert editor.text() == f"first\n{BEFORE}last\n"
    editor.command("Stet undo")
    editor.wait_message("no edit to undo")

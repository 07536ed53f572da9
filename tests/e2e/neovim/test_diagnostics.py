"""Diagnostics in a real Neovim, with keys that are typed: they come, get better words, and go."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from support.editors.neovim import PLUGIN, SECONDS, Neovim, plugin
from support.processes.stet import stet_argv

pytestmark = pytest.mark.editor

BEFORE = "import os\n\n\ndef other(y):\n    return y\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "other.py"
    path.write_text(BEFORE, encoding="utf-8")
    return path


@pytest.fixture
def editor(neovim: Neovim, file: Path) -> Neovim:
    neovim.open(file)
    return neovim


def reported(nvim: Neovim) -> list[str]:
    """The messages of all diagnostics of the file, whichever window has the cursor."""
    found: list[str] = nvim.lua("""
      local file = vim.fn.bufnr("other.py")
      return vim.tbl_map(function(item) return item.message end, vim.diagnostic.get(file))
    """)
    return found


def wait_for_diagnostics(nvim: Neovim, wanted: Callable[[list[str]], bool]) -> None:
    """Waits from outside, so that the editor's main loop continues to read its keys."""
    deadline = time.monotonic() + SECONDS
    while not wanted(found := reported(nvim)):
        assert time.monotonic() < deadline, found
        time.sleep(0.05)  # a question after the other without a pause keeps the editor from hearing its server


def test_a_syntax_error_is_shown_while_typing_and_removed_when_fixed(editor: Neovim) -> None:
    wait_for_diagnostics(editor, lambda found: not found)
    editor.lua("vim.api.nvim_input('Gox = (1')")
    wait_for_diagnostics(editor, lambda found: any("'(' is never closed" in message for message in found))
    editor.lua("vim.api.nvim_input(')')")
    wait_for_diagnostics(editor, lambda found: not found)
    editor.lua("vim.api.nvim_input('<Esc>')")


def test_an_error_that_only_python_finds_is_shown_after_a_pause(editor: Neovim) -> None:
    editor.lua("vim.api.nvim_input(\"Goprint(end='', y)<Esc>\")")
    refused = "Positional argument cannot follow keyword argument"
    wait_for_diagnostics(editor, lambda found: found == [refused])
    editor.lua("vim.api.nvim_input('dd')")
    wait_for_diagnostics(editor, lambda found: not found)


def test_findings_of_analyze_are_shown_and_cleared_by_a_command(editor: Neovim) -> None:
    editor.command("1,5Stet analyze")
    assert editor.done()["status"] == "done"
    wait_for_diagnostics(editor, lambda found: any("`os` imported but unused" in message for message in found))
    editor.lua("vim.api.nvim_input('q')")  # the report has the cursor
    editor.command("Stet clear")
    wait_for_diagnostics(editor, lambda found: not any("imported but unused" in message for message in found))


def test_errors_of_another_server_are_not_repeated(tmp_path: Path, environment: Mapping[str, str], file: Path) -> None:
    with Neovim(tmp_path, environment, plugin([*stet_argv(), "--stdio"])) as nvim:
        nvim.open(file)
        nvim.lua("vim.api.nvim_input('Gox = (1<Esc>')")
        wait_for_diagnostics(nvim, lambda found: any("never closed" in message for message in found))
        nvim.lua("""
          local namespace, line = vim.api.nvim_create_namespace("other"), vim.api.nvim_buf_line_count(0) - 1
          vim.diagnostic.set(namespace, 0, {
            { lnum = line, col = 0, message = "'(' was not closed", severity = 1, source = "Pyright" },
          })
        """)
        wait_for_diagnostics(nvim, lambda found: found == ["'(' was not closed"])


def test_without_the_plugin_the_better_message_is_shown_too(
    tmp_path: Path, environment: Mapping[str, str], file: Path
) -> None:
    """Neovim 0.11 cannot be asked to pull again: what its last answer did not hold is pushed."""
    configuration = (PLUGIN.parent / "configs" / "neovim.lua").read_text(encoding="utf-8")
    with Neovim(tmp_path, environment, configuration) as nvim:
        nvim.open(file)
        nvim.lua("vim.api.nvim_input(\"Goprint(end='', y)<Esc>\")")
        refused = "Positional argument cannot follow keyword argument"
        wait_for_diagnostics(nvim, lambda found: found == [refused])
        nvim.lua("vim.api.nvim_input('ggO# one<Esc>')")
        wait_for_diagnostics(nvim, lambda found: found == [refused])
        nvim.lua("vim.api.nvim_input('Gdd')")
        wait_for_diagnostics(nvim, lambda found: not found)

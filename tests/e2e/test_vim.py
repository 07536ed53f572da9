"""Vim with the configuration as `stet editor vim` prints it: `:Stet` in plain Vim, and the menu of ALE."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from support.editors import vim
from support.editors.signs import AFTER, BEFORE
from support.servers.scripted import Reply, ScriptedModel

needs_vim = pytest.mark.skipif(vim.missing() is not None, reason=str(vim.missing()))
needs_ale = pytest.mark.skipif(vim.missing("ale") is not None, reason=str(vim.missing("ale")))

pytestmark = [pytest.mark.editor]

TEXT = "getline(1, '$')"


@needs_vim
def test_the_command_edits_the_file_and_u_undoes_it(
    tmp_path: Path, environment: Mapping[str, str], file: Path, scripted: ScriptedModel
) -> None:
    applied, undone = vim.run(
        tmp_path, environment, file,
        "silent Stet refactor make it one line, don't rename",
        f"let l:landed = {TEXT}",
        "undo",
        f"return [l:landed, {TEXT}]",
    )  # fmt: skip
    assert applied == AFTER.splitlines()
    assert undone == BEFORE.splitlines()
    assert file.read_text() == AFTER
    assert "make it one line, don't rename" in scripted.wait_request().prompt


@needs_ale
def test_an_explanation_from_the_menu_is_shown_as_a_message(
    tmp_path: Path, environment: Mapping[str, str], file: Path, scripted: ScriptedModel
) -> None:
    scripted.default = Reply("It gives the sign of x.")
    screen = vim.run(
        tmp_path, environment, file,
        "call Choose('Explain ')",
        "call WaitFor(\"stridx(Screen(), 'gives the sign') >= 0\")",
        "return Screen()",
    )  # fmt: skip
    assert "It gives the sign of x." in screen


@needs_ale
def test_an_edit_from_the_menu_is_not_forced_on_a_client_that_takes_none(
    tmp_path: Path, environment: Mapping[str, str], file: Path
) -> None:
    text = vim.run(
        tmp_path, environment, file,
        "call Choose('Refactor ')",
        "call WaitFor(\"stridx(Screen(), 'log') >= 0\")",
        f"return {TEXT}",
    )  # fmt: skip
    assert text == BEFORE.splitlines()

"""Progress and messages of a real Neovim, on its last line."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator

import pytest
from support.editors.neovim import Neovim
from support.editors.signs import REPLY
from support.servers.scripted import Reply, ScriptedModel

pytestmark = pytest.mark.editor


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
    messages = echoed()
    assert any(line.startswith("Stet: refactor signs.py: ") for line in messages)
    assert "" in messages
    assert max(map(len, messages)) <= 48, "a longer line asks for <Enter>"
    assert messages[-1].endswith("…"), "it is cut"
    assert "Workspace edit" not in editor.lua("return vim.fn.execute('messages')")


def test_the_seconds_fit_on_the_last_line_and_a_long_wait_shows_how_to_cancel(
    editor: Neovim, echoed: Callable[[], list[str]]
) -> None:
    def shown(message: str, title: str = "Stet: refactor signs.py", kind: str = "report") -> str:
        value = {"kind": kind, "title": title, "message": message}
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
    size = "204 of 1117 MB · 25.5 MB/s · 36 s left"
    end = "cancelled; the next one resumes here"
    assert shown(end, kind="end") == f"Stet: refactor signs.py: {end}"
    assert shown(size, "Stet: download Qwen2.5-Coder 1.5B Instruct") == f"Stet: download Qwen2.5-Code…: {size}"
    shown("", kind="end")


def test_a_failure_shows_what_to_do_next(editor: Neovim, scripted: ScriptedModel) -> None:
    scripted.default = Reply.failure(401, "no such key")
    editor.lua("vim.o.columns = 300")
    editor.command("Stet refactor")
    assert editor.done()["status"] == "failed"
    messages = editor.wait_message("rejected the key", ":Stet health")
    assert messages.endswith("run `:Stet health` for the models, `:Stet retry` to try again")
    assert editor.lua("return require('stet').status()") == "Stet ✗ model down"


def test_a_refusal_is_one_message_that_names_the_evidence_command(editor: Neovim, scripted: ScriptedModel) -> None:
    scripted.default = Reply("CODE:\n```python\ndef sign(number:\n```\n")
    editor.lua("vim.o.columns = 200")
    editor.command("Stet refactor")
    assert editor.done()["status"] == "refused"
    messages = editor.wait_message(":Stet evidence")
    assert messages.startswith("Stet: Refactor: no edit, the model's code does not parse: ")
    assert messages.endswith(" :Stet evidence shows what was checked")

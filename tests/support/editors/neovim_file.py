"""What Neovim's tests edit, and how they choose and follow a job there."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from support.editors.neovim import Neovim
from support.servers.scripted import Reply, ScriptedModel

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

OLD = BEFORE[BEFORE.index("def sign") : BEFORE.index("\n\ndef other")]


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


KEYS = "vim.fn.maparg('q', 'n', false, true).buffer == 1"
"""True once keys count: in the first moment they were meant for the code."""


def bar(nvim: Neovim, number: int = 0) -> str:
    """What stands above the text of a window; 0 is the current one."""
    shown: str = nvim.lua(f"""
      local winid = vim.fn.win_getid({number} > 0 and {number} or vim.fn.winnr())
      return vim.api.nvim_eval_statusline(vim.wo[winid].winbar, {{ winid = winid, use_winbar = true }}).str
    """)
    return shown

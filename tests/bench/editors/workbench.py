"""What VS Code's workbench feels of the extension: its size, its start, the way of an accepted edit."""

from __future__ import annotations

import json
import os
import re
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.row import Row
from support.editors import vscode
from support.editors.signs import BEFORE, REPLY
from support.editors.vscode import STATUS, VSIX, VSCode
from support.processes.stet import stet_argv
from support.servers.scripted import Reply, ScriptedModel

ROUNDS = 5
DIFF = '.tab:has-text("Stet: Refactor `sign`")'
EXTENSION = '.extension .name:has-text("Stet")'


def rows() -> Iterator[Row]:
    """One row a promise; one that says what is missing where the workbench is not installed."""
    if (missing := vscode.missing()) is not None:
        yield Row("VS Code's workbench", missing, "-")
        return
    yield Row("VSIX", f"{VSIX.stat().st_size / 1000:.0f} KB", "500 KB")
    with tempfile.TemporaryDirectory() as home, ScriptedModel() as model:
        model.default = Reply(REPLY)
        env = {**os.environ, "HOME": home, "STET_HOME": home, "STET_BASE_URL": model.base_url}
        env |= {"STET_MODEL": model.models[0], "STET_API_KEY": "bench", "STET_MODEL_CACHE": "false"}
        settings = {"stet.server.command": [*stet_argv("--stdio")], "stet.editor.preview": "always"}
        folder = Path(home) / "bench"
        folder.mkdir()
        os.environ.setdefault("PYTEST_CURRENT_TEST", "bench::workbench ")  # the name of a picture, if it fails
        with VSCode(folder, env, settings) as editor:
            used = _timed(folder, folder / "changes")
            yield _activation(editor)
            times = [float(line) for line in used.read_text(encoding="ascii").split()]
            yield Row("the same, processor time", f"{statistics.median(times):.0f} ms", "50 ms")
            yield from _accepted(editor, folder / "changes")


_TIMED = """\
const total = (since) => Object.values(process.cpuUsage(since)).reduce((one, other) => one + other) / 1000;
const began = process.cpuUsage();
const own = require("./own.js");
const loaded = total(began);
exports.activate = (context) => {
  const called = process.cpuUsage();
  own.activate(context);
  require("node:fs").appendFileSync(%s, `${loaded + total(called)}\\n`);
  require("vscode").workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
    if (document.uri.scheme === "file" && contentChanges.length > 0) {
      require("node:fs").appendFileSync(%s, `${performance.timeOrigin + performance.now()}\\n`);
    }
  });
};
exports.deactivate = own.deactivate;
"""
"""Writes what loading and activating take of the processor (a busy machine stretches the clock's time), and when the
extension host learns of each change of a file's text."""


def _timed(folder: Path, changes: Path) -> Path:
    """The file with a line of milliseconds for each activation from now on; `changes` gets one for each change."""
    file = folder / "activations"
    (program,) = folder.glob("extensions/stet-ls.stet-*/dist/extension.js")
    program.rename(program.with_name("own.js"))
    program.write_text(_TIMED % (json.dumps(str(file)), json.dumps(str(changes))), encoding="utf-8")
    return file


def _activation(editor: VSCode) -> Row:
    """What VS Code itself counts for `activate`, in fresh windows."""
    times = []
    for _ in range(ROUNDS):
        _ready(editor)
        editor.palette("Developer: Show Running Extensions")
        editor.text(EXTENSION)
        texts = editor.call("texts", selector='.extension:has(.name:has-text("Stet")) .activation-time')
        times.append(int(re.findall(r"(\d+)ms", texts[0])[-1]))
    return Row("activation of the extension (median)", f"{statistics.median(times):.0f} ms", "50 ms")


def _accepted(editor: VSCode, changes: Path) -> Iterator[Row]:
    """From the key that accepts an edit to the changed buffer, and to its text on the screen."""
    changed, drawn = [], []
    for number in range(ROUNDS):
        _ready(editor, f"signs{number}.py")
        editor.choose("Refactor `sign`")
        editor.text(DIFF)
        editor.press("Control+Shift+J")
        changes.write_text("", encoding="ascii")
        pressed, took = editor.clock("Enter", ".view-line", "(x > 0) - (x < 0)", gone=".monaco-diff-editor")
        while not (shown := changes.read_text(encoding="ascii").split()):
            time.sleep(0.05)
        changed.append(float(shown[0]) - pressed)
        drawn.append(took)
    yield Row("accept -> changed buffer (median)", f"{statistics.median(changed):.0f} ms", "100 ms")
    yield Row("accept -> diff closed, text drawn (median)", f"{statistics.median(drawn):.0f} ms", "-")


def _ready(editor: VSCode, name: str = "signs.py") -> None:
    editor.open_again(name, BEFORE)
    editor.text(f'{STATUS}:has-text("Stet ✓")')

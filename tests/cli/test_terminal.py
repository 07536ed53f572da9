"""What a person at a terminal sees: colours, a progress line, and nothing that a model could smuggle in."""

from __future__ import annotations

import os
import pty
import subprocess
from collections.abc import Mapping
from pathlib import Path

from support.scripted import ScriptedModel
from support.stet import stet_argv

from stet_ls.server.cli.present import unified_diff, visible


def on_terminal(argv: list[str], cwd: Path, environment: Mapping[str, str]) -> tuple[int, str]:
    """Runs a command with a terminal for its three streams; returns its status and all that was drawn."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(argv, cwd=cwd, env=environment, stdin=theirs, stdout=theirs, stderr=theirs) as child:
        os.close(theirs)
        drawn = b""
        try:
            while piece := os.read(ours, 4096):
                drawn += piece
        except OSError:  # Linux says EIO when the other end is closed
            pass
    os.close(ours)
    return child.returncode, drawn.decode()


def test_a_terminal_gets_colours_and_no_escape_sequence_of_a_model(
    folder: Path, environment: Mapping[str, str], scripted: ScriptedModel
) -> None:
    (folder / "a.py").write_text("def one():\n    return 2\n")
    scripted.reply("CODE:\n```python\ndef one():\n    return 1  # \x1b]0;owned\x07\n```\n")

    status, drawn = on_terminal(
        stet_argv("run", "debug", "a.py:1"), folder, {**environment, "TERM": "xterm-256color", "NO_COLOR": ""}
    )

    assert status == 0, drawn
    assert "\x1b[32m+    return 1" in drawn
    assert "\x1b]0;owned" not in drawn
    assert "owned" in drawn
    assert "\r\x1b[K" in drawn, "a progress line was drawn and taken away"


def test_control_characters_become_pictures() -> None:
    assert visible("a\x1b[31mb\rc\td\ne\x7f\x9b") == "a␛[31mb␍c\td\ne␡␛"


def test_a_diff_knows_new_files_and_missing_line_ends() -> None:
    assert unified_diff(None, "x\n", "a") == "--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+x\n"
    assert unified_diff("x", "x\n", "a") == ("--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+x\n")
    assert unified_diff("x\f\u2028y\r\n", "z\r\n", "a") == "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\f\u2028y\r\n+z\r\n"
    assert unified_diff("x\n", "x\n", "a") == ""

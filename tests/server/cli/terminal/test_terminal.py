"""What a person at a terminal sees: colors, a progress line, and nothing that a model could smuggle in."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from support.editors.terminal import Terminal, on_terminal
from support.processes.command import SECONDS
from support.processes.stet import stet_argv
from support.servers.scripted import Reply, ScriptedModel

from stet_ls.server.cli.terminal.render import unified_diff, visible
from stet_ls.server.cli.terminal.status import print_json
from stet_ls.validators.invisible_chars import HIDDEN


def test_a_terminal_gets_colors_but_no_escape_sequences_of_a_model(
    folder: Path, environment: Mapping[str, str], scripted: ScriptedModel
) -> None:
    (folder / "a.py").write_text("def one():\n    return 2\n")
    scripted.reply("CODE:\n```python\ndef one():\n    return 1  # \x1b]0;owned\x07\n```\n")

    status, drawn = on_terminal(
        stet_argv("run", "debug", "a.py:1"), folder, {**environment, "TERM": "xterm-256color", "NO_COLOR": ""}
    )

    assert status == 1, "the hidden characters refute it"
    assert "\x1b[32m+    return 1" in drawn
    assert "\x1b]0;owned" not in drawn
    assert "owned" in drawn
    assert "\r\x1b[K" in drawn, "a progress line was drawn and taken away"


def test_evidence_is_wrapped_on_a_wide_terminal(folder: Path, environment: Mapping[str, str]) -> None:
    """What failed comes first; a pipe gets each line whole."""
    code = """
from stet_ls.engine.api.evidence import Check, Evidence, Ruling
from stet_ls.server.cli.terminal.render import print_evidence
print_evidence([Evidence(Check.NOOP, Ruling.PASS, "2 lines changed"),
                Evidence(Check.TESTS, Ruling.FAIL, " ".join(["a_test fails"] * 20))])
"""
    argv, log = [sys.executable, "-c", code], folder / "terminal.log"
    terminal = Terminal(argv, folder, {**environment, "NO_COLOR": "1", "COLUMNS": "200"}, (24, 200), log)
    terminal.process.wait(SECONDS)
    terminal.close()

    drawn = re.sub(r"\x1b\[[\d;]*m", "", log.read_text()).split("\n")
    drawn = [line.rstrip() for line in drawn if line.strip()]
    assert drawn[0].startswith("✗ tests: a_test fails")
    assert all(line.startswith("  a_test") or line.startswith("  fails") for line in drawn[1:-1])
    assert drawn[-1] == "✓ change: 2 lines changed"
    assert 90 < max(map(len, drawn)) <= 100
    piped = subprocess.run(argv, env=environment, capture_output=True, text=True, timeout=SECONDS, check=True)
    assert len(piped.stdout.splitlines()) == 2


def test_elapsed_seconds_are_updated_while_the_model_is_silent(
    folder: Path, environment: Mapping[str, str], scripted: ScriptedModel
) -> None:
    (folder / "a.py").write_text("def one():\n    return 2\n")
    release = threading.Event()
    scripted.default = Reply("CODE:\n```python\ndef one():\n    return 1\n```\n", hold=release)
    log, drawn = folder / "terminal.log", ""
    terminal = Terminal(stet_argv("run", "refactor", "a.py:1"), folder, environment, (24, 120), log)
    with terminal.process as child:
        deadline = time.monotonic() + SECONDS
        while len(set(lines := re.findall(r"asking scripted-7b \((\d+) s\)", drawn))) < 3:
            assert time.monotonic() < deadline, drawn
            time.sleep(0.1)
            drawn = log.read_text(errors="replace") if log.exists() else ""
        release.set()
        child.wait(SECONDS)
    terminal.close()

    assert lines == sorted(lines, key=int)


def test_control_characters_are_shown_as_symbols() -> None:
    assert visible("a\x1b[31mb\rc\td\ne\x7f\x9b") == "a␛[31mb␍c\td\ne␡␛"


def test_a_diff_marks_new_files_and_missing_line_ends() -> None:
    assert unified_diff(None, "x\n", "a") == "--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+x\n"
    assert unified_diff("x", "x\n", "a") == ("--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+x\n")
    assert unified_diff("x\f\u2028y\r\n", "z\r\n", "a") == "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\f\u2028y\r\n+z\r\n"
    assert unified_diff("x\n", "x\n", "a") == ""


ESCAPES = "\x1b]0;owned\x07 \x9d52;c;b3du\x9c \u202eesrever\u2066"
"""What a terminal may obey: a window's title, the clipboard by a C1 control, and text turned round."""


@pytest.mark.parametrize(
    ("words", "reply", "status"),
    [
        (("debug", "a.py:1"), "```python\ndef one():\n    return 1\n```\nNOTES:\n- warning: {}\n", 0),
        (("debug", "a.py:1", "--json"), "```python\ndef one():\n    return 1  # {}\n```\n", 1),
        (("debug", "a.py:1"), "```python\ndef one():\n    # ... rest {} unchanged ...\n```\n", 1),
        (("explain", "a.py:1"), "It {} returns [a number](https://evil.example/).\n", 0),
        (("explain", "odd{}.py", "--show-prompt"), "", 0),
        (("debug", "odd{}.py"), "```python\ndef one():\n    return 1\n```\n", 0),
        (("debug", "missing{}.py"), "", 2),
    ],
    ids=["warning", "json", "refusal", "prose", "prompt", "name", "error"],
)
def test_untrusted_text_cannot_control_the_terminal(
    folder: Path,
    environment: Mapping[str, str],
    scripted: ScriptedModel,
    words: tuple[str, ...],
    reply: str,
    status: int,
) -> None:
    for name in ("a.py", f"odd{ESCAPES}.py"):
        (folder / name).write_text("def one():\n    return 2\n")
    scripted.default = reply.replace("{}", ESCAPES)

    ended, drawn = on_terminal(
        stet_argv("run", *(word.replace("{}", ESCAPES) for word in words)),
        folder,
        {**environment, "TERM": "xterm-256color", "NO_COLOR": ""},
    )

    assert ended == status, drawn
    assert "owned" in drawn
    assert not re.search("\x1b[^[]|[\x07\x80-\x9f\u202e\u2066]", drawn), ascii(drawn)


def test_json_output_escapes_hidden_characters_and_keeps_values(capsys: pytest.CaptureFixture[str]) -> None:
    value = {"text": "\x1b\x7f\x9b\u202e\U000e0041\ufeff ü \t"}
    print_json(value)
    printed = capsys.readouterr().out
    assert json.loads(printed) == value
    assert "ü" in printed
    assert not HIDDEN.search(printed.replace("\n", ""))


def test_a_name_cannot_add_lines_to_a_patch(folder: Path) -> None:
    name = 'a\n+++ b/b"\\.py'
    (folder / name).parent.mkdir()
    (folder / name).write_text("x\n")
    patch = unified_diff("x\n", "y\n", name)
    assert patch.startswith('--- "a/a\\012+++ b/b\\042\\134.py"\n+++ "b/a\\012')
    subprocess.run(["git", "apply"], input=patch.encode(), cwd=folder, check=True)
    assert (folder / name).read_text() == "y\n"

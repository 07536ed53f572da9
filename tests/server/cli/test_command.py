"""The command itself: usage, exit statuses, and errors in one sentence."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from support.corpora.traps import laid
from support.processes.command import SECONDS, Stet
from support.processes.stet import interruptible_argv, stet_argv
from support.repository import Repository
from support.servers.scripted import ScriptedModel

from stet_ls import __version__


def test_version_is_printed(stet: Stet) -> None:
    ran = stet("--version")

    assert (ran.status, ran.out, ran.err) == (0, f"stet {__version__}\n", "")


def test_help_names_every_command(stet: Stet) -> None:
    ran = stet("--help")

    assert ran.status == 0
    for name in ("serve", "run", "check", "model", "doctor", "config", "editor", "demo", "memory", "sandbox"):
        assert f"    {name} " in ran.out


def test_without_arguments_it_lists_the_commands(stet: Stet) -> None:
    ran = stet()

    assert (ran.status, ran.out) == (2, "")
    assert "    doctor " in ran.err


FORMS = "FILE:LINE, FILE:LINE:COLUMN, FILE:LINE-LINE or FILE::NAME"
WAY_OUT = "; declare its encoding in the first line, such as `# -*- coding: latin-1 -*-`, or convert it to UTF-8"
TOKEN = "`--tcp` and `--ws` need a token: set `STET_TOKEN`, or pass `--token-file`"
CONTEXT = '`stet run` has no argument `--contxt`: did you mean "--context"?'
LINES = "lines count from 1, and a range ends at or after its first line"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["chek", "a.py"], 'unknown command "chek": did you mean "check"?'),
        (["run", "debg", "a.py"], 'unknown action "debg": did you mean "debug"?'),
        (["run", "debug", "good.py", "--contxt", "x"], CONTEXT),
        (["model", "list", "--jsn"], '`stet model` has no argument `--jsn`: did you mean "--json"?'),
        (["check", "good.py", "--quiet"], '`stet check` has no argument `--quiet`: see `stet check --help`'),
        (["run", "debug", "good.py:two"], f"good.py: expected {FORMS}, found 'two' after the colon"),
        (["run", "debug", "missing.py"], "missing.py does not exist"),
        (["run", "debug", "."], ". is a folder; pass a file"),
        (["run", "debug", "x" * 300], f"cannot read {'x' * 300}: File name too long"),
        (["run", "debug", "binary.py"], "binary.py is a binary file"),
        (["run", "debug", "latin.py"], f"latin.py is not UTF-8 text (byte 1){WAY_OUT}"),
        (["run", "debug", "pipe"], "pipe is not a regular file"),
        (["run", "debug", "good.py:0"], f"good.py: {LINES}"),
        (["run", "debug", "good.py:3-2"], f"good.py: {LINES}"),
        (["run", "debug", "good.py:3"], "good.py has 2 lines, not 3"),
        (["run", "debug", "good.py:1-9"], "good.py has 2 lines, not 9"),
        (["run", "debug", "good.py", "--language", "pyton"], 'unknown language `pyton`: did you mean "python"?'),
        (["run", "debug", "good.py", "--context", "novalue"], '--context "novalue": expected KEY=VALUE'),
        (["run", "debug", "-"], "standard input needs --language"),
        (["run", "debug", "-", "--apply"], "`--apply` needs a file; standard input cannot be written"),
        (["editor", "neovin"], 'unknown editor `neovin`: did you mean "neovim"?'),
        (
            ["editor", "notepad"],
            "unknown editor `notepad`: "
            "expected one of emacs, helix, jetbrains, kate, neovim, sublime, vim, vscode, zed",
        ),
        (["editor", "code"], "`vscode` takes a plugin, not a configuration\nhint: stet editor vscode --install"),
        (["demo", "debg"], 'the demo has no action `debg`: did you mean "debug"?'),
        (["model", "pull", "smal"], 'unknown model `smal`: did you mean "small"?'),
        (["serve", "--tcp", "127.0.0.1"], '"127.0.0.1": expected HOST:PORT, such as 127.0.0.1:7777'),
        (["serve", "--tcp", "127.0.0.1:7777"], TOKEN),
    ],
)  # fmt: skip
def test_bad_input_is_reported_in_one_sentence(
    stet: Stet, folder: Path, scripted: ScriptedModel, words: list[str], said: str
) -> None:
    (folder / "good.py").write_text("x = 1\ny = 2\n")
    (folder / "binary.py").write_bytes(b"x\0y")
    (folder / "latin.py").write_bytes("xé".encode("latin-1"))
    os.mkfifo(folder / "pipe")
    before = {file: file.read_bytes() for file in folder.glob("*.py")}

    ran = stet(*words)

    assert (ran.status, ran.out, ran.err) == (2, "", f"error: {said}\n")
    assert {file: file.read_bytes() for file in folder.glob("*.py")} == before
    assert scripted.requests == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["check", "--jobs", "0"], "argument --jobs: '0': expected a whole number of at least 1"),
        (["stats", "--days", "-1"], "argument --days: '-1': expected a whole number of at least 1"),
        (["trace", "list", "--limit", "0"], "argument --limit: '0': expected a whole number of at least 1"),
        (["trace"], "the following arguments are required: list|show|replay|export"),
    ],
)
def test_wrong_arguments_are_answered_with_the_accepted_ones(
    stet: Stet, folder: Path, words: list[str], said: str
) -> None:
    ran = stet(*words)

    assert (ran.status, ran.out) == (2, "")
    assert ran.err.endswith(f": error: {said}\n")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_read_permission_is_reported(stet: Stet, folder: Path) -> None:
    (folder / "a.py").write_text("x = 1\n")
    (folder / "a.py").chmod(0)

    ran = stet("run", "debug", "a.py")

    assert (ran.status, ran.err) == (2, "error: cannot read a.py: Permission denied\n")


def test_a_wrong_setting_exits_with_2(stet: Stet, folder: Path) -> None:
    (folder / "a.py").write_text("x = 1\n")
    (folder / ".stet.toml").write_text("deadlin = 3\n")

    ran = stet("run", "explain", "a.py")

    assert ran.status == 2
    assert ran.err == (f'error: unknown key "deadlin" in {folder / ".stet.toml"}, line 1: did you mean "deadline"?\n')


def test_an_internal_error_is_one_sentence_and_a_log(stet: Stet, folder: Path, stet_home: Path) -> None:
    """A library that cannot be imported stands for everything that no one foresaw."""
    (folder / "rich.py").write_text("raise RuntimeError('a broken installation')\n")

    ran = stet("config", "show", PYTHONPATH=str(folder))

    log = stet_home / "log" / "stet.log"
    assert (ran.status, ran.out) == (70, "")
    assert ran.err == f"error: this is a bug in Stet (RuntimeError); see {log}\n"
    assert "RuntimeError: a broken installation" in log.read_text()


def test_an_operating_system_error_is_not_reported_as_a_bug(stet: Stet, folder: Path) -> None:
    """The working folder was removed under the command's feet."""
    gone = folder / "gone"
    gone.mkdir()
    program = f"import os, sys; os.rmdir({str(gone)!r}); from stet_ls.server.__main__ import main; sys.exit(main())"

    done = subprocess.run(
        [sys.executable, "-c", program, "config", "show"],
        env=stet.environment, cwd=gone, capture_output=True, text=True,
    )  # fmt: skip

    assert done.returncode == 1
    assert done.stderr == "error: No such file or directory\n"


def test_control_c_exits_without_a_traceback(
    folder: Path, environment: Mapping[str, str], scripted: ScriptedModel
) -> None:
    (folder / "a.py").write_text("x = 1\n")
    scripted.reply("PLAN: wait", chunks=["PLAN: ", "wait"], delay=60)
    argv, pipe = interruptible_argv("run", "explain", "a.py"), subprocess.PIPE
    with subprocess.Popen(argv, cwd=folder, env=environment, stdout=pipe, stderr=pipe) as child:
        try:
            scripted.wait_request()
            child.send_signal(signal.SIGINT)
            out, err = child.communicate(timeout=SECONDS)
        finally:
            child.kill()

    assert child.returncode == 130
    assert out == b""
    assert b"Traceback" not in err
    scripted.wait_disconnect()


def test_a_closed_output_pipe_is_not_reported_as_a_bug(folder: Path, environment: Mapping[str, str]) -> None:
    read, write = os.pipe()
    os.close(read)

    done = subprocess.run(
        stet_argv("config", "show", "--json"), cwd=folder, env=environment, stdout=write, stderr=subprocess.PIPE
    )
    os.close(write)

    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.parametrize(
    "words", [["sandbox", "probe"], ["model", "pull"], ["memory", "stats"], ["doctor"]], ids=" ".join
)
def test_an_unwritable_home_is_reported_with_a_way_out(
    stet: Stet, folder: Path, words: list[str]
) -> None:  # fmt: skip
    (folder / "file").touch()

    said = stet(*words, STET_HOME=str(folder / "file" / "home"), STET_MEMORY_ENABLED="true").err

    reason = f"below {folder}/file/home, which is not writable (Not a directory)"
    line = f"error: Stet keeps its files {reason}: set `STET_HOME` to a writable folder"
    assert said.splitlines().count(line) == 1
    assert said.count("Not a directory") == 1
    assert "Errno" not in said


def test_pipes_and_links_in_a_project_do_not_block_a_command(stet: Stet, scripted: ScriptedModel, folder: Path) -> None:
    """Whatever lies under the names that commands and their tools read."""
    Repository.new(folder).write({"app.py": "import helper\n\n\ndef f(a):\n    b = a\n    return b\n"})
    (folder / "app.c").write_text('#include "header.h"\nint f(int a) {\n  return a;\n}\n')
    scripted.default = "```python\ndef f(a):\n    return a\n```"
    commands = [
        ("check", "--lint", "--jobs", "1", "."),
        ("run", "refactor", "app.py::f", "--budget", "quick"),
        ("doctor",),
    ]
    for turn, command in enumerate(commands):
        traps = list(laid(folder, 3 * turn))
        began = time.monotonic()
        ran = stet(*command)
        assert time.monotonic() - began < 30
        assert ran.status in (0, 1), ran.err
        assert "Traceback" not in ran.err
        for trap in traps:
            trap.rmdir() if trap.is_dir() and not trap.is_symlink() else trap.unlink()

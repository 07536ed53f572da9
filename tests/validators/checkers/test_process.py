"""Foreign tools: fed and read at once, bounded in time and size, and gone afterwards with all their children."""

from __future__ import annotations

import os
import select
import sys
import time
from pathlib import Path

import pytest

from stet_ls.validators.checkers.tool_process import run_tool


def python(code: str) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", code]


def ends_soon(pid: int) -> bool:
    """True once a process is over; a kill takes effect a moment after it was asked for."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], 50)[0])
    finally:
        os.close(descriptor)


def test_the_tool_reads_stdin_and_writes_stdout() -> None:
    code = "import sys; data = sys.stdin.buffer.read(); sys.stdout.buffer.write(data[::-1]); sys.stderr.write('e')"
    result = run_tool(python(code), stdin=b"abc\xff\0", deadline=20)
    assert (result.status, result.stdout, result.stderr) == (0, b"\0\xffcba", b"e")
    assert not result.timed_out
    assert not result.missing


def test_more_output_than_a_pipe_holds_blocks_neither_side() -> None:
    data = b"0123456789" * 50_000
    result = run_tool(["cat"], stdin=data, deadline=20)
    assert result.stdout == data


def test_a_missing_tool_is_named() -> None:
    result = run_tool(["stet-no-such-tool", "x"], deadline=1)
    assert (result.status, result.missing, result.timed_out) == (None, "stet-no-such-tool", False)


def test_a_file_that_is_not_executable_counts_as_missing(tmp_path: Path) -> None:
    tool = tmp_path / "tool"
    tool.write_bytes(b"\x7fELF, or so it says")
    tool.chmod(0o755)
    assert run_tool([str(tool)], deadline=1).missing == str(tool)


def test_a_tool_that_hangs_is_gone_at_the_deadline_with_its_children() -> None:
    started = time.monotonic()
    result = run_tool(["sh", "-c", "sleep 60 & echo $!; wait"], deadline=3.0)
    assert result.timed_out
    assert result.status is None
    assert time.monotonic() - started < 50
    assert ends_soon(int(result.stdout))


def test_a_child_left_behind_does_not_outlive_its_tool() -> None:
    code = (
        "import subprocess, os; null = open(os.devnull, 'r+'); "
        "print(subprocess.Popen(['sleep', '60'], stdin=null, stdout=null, stderr=null).pid)"
    )
    result = run_tool(python(code), deadline=20)
    assert result.status == 0
    assert ends_soon(int(result.stdout))


def test_endless_output_is_cut() -> None:
    result = run_tool(["yes"], deadline=20, limit=10_000)
    assert result.truncated
    assert len(result.stdout) == 10_000
    assert not result.timed_out


def test_a_tool_may_read_nothing() -> None:
    result = run_tool(python("print('done')"), stdin=b"x" * 1_000_000, deadline=20)
    assert (result.status, result.stdout) == (0, b"done\n")


def test_an_exit_status_and_a_signal_are_reported() -> None:
    assert run_tool(python("raise SystemExit(3)"), deadline=20).status == 3
    assert run_tool(python("import os; os.kill(os.getpid(), 9)"), deadline=20).status == -9


def test_the_tool_sees_none_of_our_secrets_and_no_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    monkeypatch.setenv("PYTHONPATH", "/somewhere")
    code = "import os; print(sorted(os.environ), os.listdir(os.environ['HOME']))"
    output = run_tool(python(code), deadline=20, environment={"EXTRA": "1"}).stdout.decode()
    assert output.replace("'LC_CTYPE', ", "") == "['EXTRA', 'HOME', 'LANG', 'PATH'] []\n"


def test_no_folder_above_a_tool_is_one_where_others_could_leave_settings(tmp_path: Path) -> None:
    """/tmp/rust-toolchain.toml, which anybody may write, would choose the `rustfmt` that rustup runs below /tmp."""
    output = run_tool(python("import os; print(os.getcwd())"), deadline=20).stdout.decode()
    assert output.strip() == tmp_path.anchor
    inside = run_tool(python("import os; print(os.getcwd())"), deadline=20, cwd=tmp_path).stdout.decode()
    assert tmp_path.samefile(inside.strip())


def test_the_private_home_is_removed() -> None:
    code = "import os; home = os.environ['HOME']; os.mkdir(home + '/x'); print(os.stat(home).st_mode & 0o77, home)"
    mode, home = run_tool(python(code), deadline=20).stdout.decode().split()
    assert mode == "0"
    assert not Path(home).exists()

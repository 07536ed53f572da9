"""`stet check` over processes: order, crashes, interruption, and nothing left behind."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from support.editors.terminal import on_terminal
from support.processes.command import SECONDS, Stet
from support.processes.stet import interruptible_argv, stet_argv
from support.repository import Repository

# In a process of its own: the test's has threads, and must not be forked.
WORKERS = """
import json, os, signal, sys, time
from collections.abc import Sequence
from stet_ls.server.cli.check.worker_pool import WorkerTask, map_in_processes

def work(items: Sequence[int]) -> list[object]:
    for item in items:
        if item == DEADLY:
            os.kill(os.getpid(), signal.SIGKILL)
        if item == ENDLESS:
            time.sleep(1000)
        if item == WRONG:
            raise ValueError("a bug")
    time.sleep(0.01 * (items[0] % 3))  # so that chunks do not end in their order
    return [item * 10 for item in items]

DEADLY, ENDLESS, WRONG = json.loads(sys.argv[1])
job = WorkerTask(work, lambda item, why: f"{item}: {why}", seconds_per_item=float(sys.argv[2]))
size = int(sys.argv[3])
chunks = [list(range(start, start + size)) for start in range(0, 50, size)]
print(json.dumps([result for chunk in map_in_processes(job, chunks, processes=3) for result in chunk]))
"""


def run_workers(
    deadly: int = -1, endless: int = -1, wrong: int = -1, seconds_per_item: float = 60, size: int = 5
) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-c", WORKERS, json.dumps([deadly, endless, wrong]), str(seconds_per_item), str(size)]
    return subprocess.run(argv, capture_output=True, text=True, timeout=SECONDS)


def test_results_come_in_order() -> None:
    assert json.loads(run_workers().stdout) == [item * 10 for item in range(50)]


def test_a_crash_loses_only_one_item() -> None:
    expected: list[object] = [item * 10 for item in range(50)]
    expected[17] = "17: its process died (SIGKILL)"
    assert json.loads(run_workers(deadly=17).stdout) == expected


def test_a_hanging_item_loses_only_itself() -> None:
    """Its chunk has twice `seconds_per_item`, itself once more: enough for all others on a busy machine."""
    results = json.loads(run_workers(endless=3, seconds_per_item=5, size=2).stdout)
    assert results[3] == "3: it did not finish"
    assert results[4:] == [item * 10 for item in range(4, 50)]


def test_an_exception_is_not_reported_as_a_crash() -> None:
    """It is raised where the results are read, and reaches the log as every bug does."""
    ran = run_workers(wrong=8)
    assert ran.returncode == 1
    assert ran.stderr.endswith("ValueError: a bug\n")


def test_many_processes_give_the_same_output_as_one(stet: Stet, folder: Path) -> None:
    texts = ("x = 1\n", "x = (\n", "import os\n")
    Repository(folder).write({f"{n % 7}/{n}.{end}": texts[n % 3] for n in range(120) for end in ("py", "toml")})

    one, many = (stet("check", "--lint", "--jobs", jobs, ".") for jobs in ("1", "4"))

    assert len(one.out.splitlines()) > 80
    assert (one.status, one.out, one.err) == (many.status, many.out, many.err)


@pytest.fixture
def slow(folder: Path, tmp_path: Path, environment: Mapping[str, str]) -> Mapping[str, str]:
    """Many files whose checker writes its process id to the file "pids" and then hangs."""
    Repository(folder).write({f"{n}.go": "package a\n" for n in range(64)})
    tools = tmp_path / "tools"
    tools.mkdir()
    os.mkfifo(tmp_path / "pids")
    (tools / "gofmt").write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pids\nexec sleep 1000\n")
    (tools / "gofmt").chmod(0o755)
    return {**environment, "PATH": f"{tools}:{environment['PATH']}"}


@pytest.mark.parametrize("jobs", ["1", "3"])
@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)], ids=str
)
def test_an_interrupt_leaves_no_processes(
    folder: Path, tmp_path: Path, slow: Mapping[str, str], jobs: str, number: signal.Signals, status: int
) -> None:
    argv = interruptible_argv("check", "--jobs", jobs, ".")
    with subprocess.Popen(argv, cwd=folder, env=slow, stderr=subprocess.PIPE, start_new_session=True) as child:
        with (tmp_path / "pids").open() as pipe:  # opens when the first tool runs
            tools = [int(line) for line in pipe]
        started = family(child.pid)
        if number is signal.SIGINT:
            os.killpg(child.pid, number)  # Ctrl-C reaches the whole group
        else:
            child.send_signal(number)
        _, err = child.communicate(timeout=SECONDS)
    assert child.returncode == status
    assert err == b"", "no traceback, of no process"
    assert tools
    wait_gone(started | set(tools))


def test_a_kill_leaves_no_processes_after_a_moment(folder: Path, tmp_path: Path, slow: Mapping[str, str]) -> None:
    """Its processes end with the piece of work that they are at, and with that its tools."""
    argv = stet_argv("check", "--jobs", "3", ".")
    with subprocess.Popen(argv, cwd=folder, env=slow, stderr=subprocess.PIPE) as child:
        (tmp_path / "pids").open().close()
        while len(started := family(child.pid)) <= 3:  # all three of its processes, of which the first has a tool
            assert child.poll() is None
            time.sleep(0.01)
        child.kill()
        # A process that holds the pipe is alive: the pipe ends when all are gone, or about to be.
        child.communicate(timeout=SECONDS)
    wait_gone(started)


def wait_gone(processes: set[int]) -> None:
    """Returns once none of them is alive: one that lets go of its files has not quite ended yet."""
    deadline = time.monotonic() + SECONDS
    while left := [each for each in processes if alive(each)]:
        assert time.monotonic() < deadline, left
        time.sleep(0.05)


def family(parent: int) -> set[int]:
    """A process and all that it started, and they."""
    try:
        children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    except FileNotFoundError:
        return set()
    return {parent}.union(*(family(int(child)) for child in children))


def alive(process: int) -> bool:
    """True unless it is gone or waits to be reaped."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_closed_output_pipe_ends_the_check_quietly(folder: Path, environment: Mapping[str, str]) -> None:
    Repository(folder).write({f"{n}.py": "x = (\n" * 30 for n in range(400)})
    with subprocess.Popen(
        stet_argv("check", "."), cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as child:
        assert child.stdout
        assert child.stderr
        child.stdout.readline()
        child.stdout.close()
        err = child.stderr.read()
    assert (child.returncode, err) == (141, b"")


def test_the_progress_bar_is_shown_only_on_a_terminal(stet: Stet, folder: Path, environment: Mapping[str, str]) -> None:
    Repository(folder).write({f"{n}.py": "x = 1\n" for n in range(300)})

    status, drawn = on_terminal(stet_argv("check", "."), folder, {**environment, "TERM": "xterm-256color"})

    assert status == 0
    assert re.search(r"checking.* 300/300", re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", drawn))
    assert drawn.rstrip().endswith("300 files checked, 0 findings")
    ran = stet("check", ".")
    assert (ran.out, ran.err) == ("", "")

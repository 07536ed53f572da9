"""Runs Python scripts, and pytest in folders, in forks of one interpreter: most of the time would go to its starts.

As a program it reads a job a line (a folder, a script in it or "" for pytest, and two files for what is printed) and
answers with its exit status. Each process of tests starts one when it first needs it; it ends with them.
"""

from __future__ import annotations

import atexit
import json
import os
import runpy
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

TIMEOUT_SECONDS = 60.0
"""Seconds that a script may take."""


def run_script(folder: Path, name: str = "") -> tuple[int, str, str]:
    """The exit status of a script of a folder, or of pytest there, with what it printed on stdout and stderr."""
    program = _program()
    assert program.stdin is not None
    assert program.stdout is not None
    files = [folder / ".out", folder / ".err"]
    program.stdin.write(json.dumps([str(folder), name, *map(str, files)]) + "\n")
    program.stdin.flush()
    answer = program.stdout.readline()
    assert answer, "the program that runs the scripts has ended"
    texts = [each.read_text(encoding="utf-8") for each in files]
    for each in files:
        each.unlink()
    return int(answer), texts[0], texts[1]


@cache
def _program() -> subprocess.Popen[str]:
    plain = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    started = subprocess.Popen(
        [sys.executable, "-B", "-W", "ignore", __file__],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8", env=plain,
    )  # fmt: skip
    atexit.register(started.kill)
    return started


def main() -> None:
    """Runs the jobs that stdin holds, one after the other."""
    import pytest  # so that no fork has to

    pytest.version_tuple  # noqa: B018
    for line in sys.stdin:
        folder, name, out, err = json.loads(line)
        child = os.fork()
        if child == 0:
            _work(folder, name, out, err)
        print(_status_of(child), flush=True)


def _status_of(child: int) -> int:
    end = time.monotonic() + TIMEOUT_SECONDS
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return -signal.SIGKILL


def _work(folder: str, name: str, out: str, err: str) -> None:
    """In a fork: the script as a process of its own would run it."""
    os.chdir(folder)
    for place, number in ((out, 1), (err, 2)):
        opened = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(opened, number)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    status = 1
    try:
        status = _run(folder, name)
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
    with suppress(BaseException):
        threading._shutdown()  # type: ignore[attr-defined]
    with suppress(BaseException):
        atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def _run(folder: str, name: str) -> int:
    sys.path[0] = folder
    if not name:
        import pytest

        return int(pytest.main(["-q", "-p", "no:cacheprovider"]))
    sys.argv = [name]
    runpy.run_path(name, run_name="__main__")
    return 0


if __name__ == "__main__":
    main()

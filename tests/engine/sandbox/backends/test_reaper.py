"""Boxes that no one waits for any more are ended, and no others."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from stet_ls.engine.sandbox.backends import backend_discovery, reaper

SERVER = """
import os, subprocess, sys
sys.path.insert(0, sys.argv[2])
from stet_ls.engine.sandbox.backends import reaper
reading, writing = os.pipe()
os.write(writing, b"\\0".join([b"--unshare-all", b"--ro-bind", b"/", b"/", b""]))
os.close(writing)
box = subprocess.Popen([sys.argv[1], "--args", str(reading), "sh", "-c", "echo; sleep 60", reaper.mark()],
                       stdout=subprocess.PIPE, pass_fds=[reading])
box.stdout.readline()
print(box.pid, flush=True)
input()
"""


@pytest.fixture
def server() -> subprocess.Popen[str]:
    """One that has a box, which does not follow it: as in the moment before bwrap asks the kernel for that."""
    program = next(backend_discovery.bwrap_programs(), None)
    if program is None:
        pytest.skip("no bwrap is installed")
    source = Path(reaper.__file__).parents[4]
    argv = [sys.executable, "-c", SERVER, str(program), str(source)]
    return subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def test_a_sandbox_whose_server_was_killed_is_ended(server: subprocess.Popen[str]) -> None:
    with server:
        assert server.stdout
        box = int(server.stdout.readline() or 0)
        if not box:
            pytest.skip("bwrap does not work here")
        inside = Path(f"/proc/{box}/task/{box}/children").read_text().split()
        reaper.end_orphans()
        assert all(alive(process) for process in (box, *map(int, inside))), "someone waits for it"

        server.kill()
        server.wait()

        # Nothing else ends them: they sleep for longer than this waits. How many were ended is not asked, for another
        # server that starts in this very moment ends them, too; the one inside is alone once the one outside is gone.
        end = time.monotonic() + 30
        while any(alive(process) for process in (box, *map(int, inside))):
            assert time.monotonic() < end, "someone is left"
            reaper.end_orphans()
            time.sleep(0.01)


def alive(process: int) -> bool:
    """Neither gone nor only waited for."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False

"""The server ends when its client is gone, even where nothing else tells it."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from support import probe_server
from support.wire import PATIENCE

from stet_ls.server.watchdog import GRACE_SECONDS, POLL_SECONDS, ClientWatch, is_alive

PROBE = str(Path(probe_server.__file__))

# A client that starts a server, lets a child of its own inherit the server's input and output, and dies.
CLIENT = """
import json, os, subprocess, sys
server = subprocess.Popen(
    [sys.executable, sys.argv[1], "hardened"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
)
heir = subprocess.Popen(
    [sys.executable, "-c", "import time; time.sleep(600)"],
    pass_fds=[server.stdin.fileno(), server.stdout.fileno()], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
)
def send(message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    server.stdin.write(b"Content-Length: %d\\r\\n\\r\\n%b" % (len(body), body))
    server.stdin.flush()
send({"id": 1, "method": "initialize", "params": {"processId": os.getpid(), "capabilities": {}}})
assert server.stdout.readline().startswith(b"Content-Length")
if sys.argv[2] == "stuck":
    send({"method": "initialized", "params": {}})
    send({"id": 2, "method": "workspace/executeCommand", "params": {"command": "probe.stuck"}})
print(server.pid, heir.pid, flush=True)
sys.stdin.read()
"""


async def gone(process_id: int, timeout: float) -> bool:
    """Waits for the end of a process that is not a child of this one."""
    descriptor = os.pidfd_open(process_id)
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(descriptor, ended.set)
    try:
        await asyncio.wait_for(ended.wait(), timeout)
    except TimeoutError:
        return False
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)
    return True


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs pidfd_open to wait for somebody else's child")
@pytest.mark.parametrize("state", ["idle", "stuck"])
async def test_the_server_ends_after_its_client(state: str) -> None:
    """Although a child of the client holds both pipes open, and even if the server's loop is stuck for ever.

    How soon is the sum of the limits below.
    """
    client = await asyncio.create_subprocess_exec(
        sys.executable, "-c", CLIENT, PROBE, state, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    assert client.stdout is not None
    server_id, heir_id = map(int, (await client.stdout.readline()).split())
    try:
        client.kill()
        await client.wait()
        assert await gone(server_id, PATIENCE)
    finally:
        os.kill(heir_id, 9)
        if is_alive(server_id):
            os.kill(server_id, 9)


def test_the_limits_add_up() -> None:
    assert POLL_SECONDS + GRACE_SECONDS < 10


def test_a_process_that_nobody_collected_is_gone() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        assert is_alive(child.pid)
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert not is_alive(child.pid), "its exit status is still there"
    assert not is_alive(child.pid)


def test_other_peoples_processes_are_alive_and_impossible_ids_are_not() -> None:
    assert is_alive(1)
    assert is_alive(os.getpid())
    assert not is_alive(0)
    assert not is_alive(-1)


def test_a_process_that_was_never_seen_does_not_end_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its client is outside of the container: ids from there mean nothing here."""
    monkeypatch.setattr("stet_ls.server.watchdog.FIRST_POLL_SECONDS", 0.01)
    with subprocess.Popen([sys.executable, "-c", "pass"]) as dead:
        dead.wait()
    looks = threading.Semaphore(0)
    called: list[Any] = []

    def process_id() -> int:
        looks.release()
        return dead.pid

    watch = ClientWatch(process_id, lambda: called.append(1))
    watch.start()
    for _ in range(5):
        assert looks.acquire(timeout=PATIENCE)
    watch.stop()
    assert called == []

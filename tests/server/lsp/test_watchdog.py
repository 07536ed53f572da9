"""The server ends when its client is gone, even where nothing else tells it."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.servers import probe_server
from support.servers.wire import TIMEOUT

from stet_ls.server.lsp import watchdog
from stet_ls.server.lsp.watchdog import (
    ANSWER_SECONDS,
    FIRST_POLL_SECONDS,
    GRACE_SECONDS,
    POLL_SECONDS,
    ClientWatch,
    is_alive,
    is_usable,
    start_time,
)

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


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs pidfd_open to wait for someone else's child")
@pytest.mark.parametrize("state", ["idle", "stuck"])
async def test_the_server_ends_after_its_client(state: str) -> None:
    """Although a child of the client holds both pipes open, and even if the server's loop is stuck for ever.

    How soon is the sum of the limits below.
    """
    client = await asyncio.create_subprocess_exec(
        sys.executable, "-c", CLIENT, PROBE, state, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    assert client.stdout is not None
    server_id, child_id = map(int, (await client.stdout.readline()).split())
    try:
        client.kill()
        await client.wait()
        assert await gone(server_id, TIMEOUT)
    finally:
        os.kill(child_id, 9)
        if is_alive(server_id):
            os.kill(server_id, 9)


def test_the_limits_add_up() -> None:
    assert POLL_SECONDS + GRACE_SECONDS < 10
    assert FIRST_POLL_SECONDS + ANSWER_SECONDS + GRACE_SECONDS < 10


def test_a_zombie_process_counts_as_gone() -> None:
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


@pytest.fixture
def dead() -> int:
    """The id of a process that has ended."""
    with subprocess.Popen([sys.executable, "-c", "pass"]) as process:
        process.wait()
    return process.pid


class Watched:
    """A watch over a process, with what it did. `answers`: someone is at the other end of the pipe."""

    def __init__(self, process_id: Any, *, answers: bool = True) -> None:
        self.gone = threading.Event()
        self.asked = 0
        self._looks = threading.Semaphore(0)
        self._answers = answers
        self._process_id = process_id
        self.watch = ClientWatch(self._process, self.gone.set, answers=self._ask)
        self.watch.start()

    def looks_on(self) -> bool:
        """True if its thread looks five times more."""
        return all(self._looks.acquire(timeout=TIMEOUT) for _ in range(5))

    def _process(self) -> Any:
        self._looks.release()
        return self._process_id

    def _ask(self) -> bool:
        self.asked += 1
        return self._answers


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Watched]]:
    """Makes watches that look often, end no process, and are stopped."""
    monkeypatch.setattr(watchdog, "FIRST_POLL_SECONDS", 0.01)
    monkeypatch.setattr(watchdog, "POLL_SECONDS", 0.01)
    monkeypatch.setattr(watchdog, "end_soon", lambda *_: None)
    made: list[Watched] = []

    def make(process_id: Any, **kinds: Any) -> Watched:
        made.append(Watched(process_id, **kinds))
        return made[-1]

    yield make
    for each in made:
        each.watch.stop()


def test_a_client_on_another_machine_is_not_watched(watched: Callable[..., Watched], dead: int) -> None:
    """Ids from outside of the container, or from another machine, mean nothing here."""
    watch = watched(dead, answers=True)
    assert watch.looks_on()
    assert watch.asked == 1
    assert not watch.gone.is_set()


def test_a_client_that_died_before_it_was_seen_is_gone(watched: Callable[..., Watched], dead: int) -> None:
    assert watched(dead, answers=False).gone.wait(TIMEOUT)


OWN = pytest.param(os.getpid(), id="own")


@pytest.mark.parametrize("given", [2**40, 2**31, -1, 0, 1, True, 7.5, "7", "x", OWN], ids=repr)
def test_an_invalid_client_process_id_is_reported_and_the_watch_continues(
    given: Any, watched: Callable[..., Watched], caplog: pytest.LogCaptureFixture
) -> None:
    assert not is_usable(given)
    watch = watched(given, answers=False)
    assert watch.looks_on(), "its thread continues"
    assert watch.asked == 0
    assert not watch.gone.is_set()
    assert [record.getMessage() for record in caplog.records] == [f"{given!r} is not a client process; not watched"]


needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to know when a process began")


@needs_proc
def test_a_reused_process_id_counts_as_gone(watched: Callable[..., Watched], monkeypatch: pytest.MonkeyPatch) -> None:
    watch = watched(os.getppid())
    assert watch.looks_on()
    assert not watch.gone.is_set()
    monkeypatch.setattr(watchdog, "start_time", lambda process_id: 1 + (start_time(process_id) or 0))
    assert watch.gone.wait(TIMEOUT)


@needs_proc
def test_a_process_younger_than_the_server_did_not_start_it(watched: Callable[..., Watched]) -> None:
    """Its client had that id before, and died before it was seen."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        assert watched(child.pid, answers=False).gone.wait(TIMEOUT)
        child.kill()


LATE = """
import json, os, subprocess, sys
dead = subprocess.Popen([sys.executable, "-c", "pass"])
dead.wait()
server = subprocess.Popen(
    [sys.executable, sys.argv[1], "hardened"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
)
def send(message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    server.stdin.write(b"Content-Length: %d\\r\\n\\r\\n%b" % (len(body), body))
    server.stdin.flush()
def read():
    length = int(server.stdout.readline().split(b":")[1])
    while server.stdout.readline().strip():
        pass
    return json.loads(server.stdout.read(length))
process_id = dead.pid if sys.argv[2] in ("dead", "elsewhere") else json.loads(sys.argv[2])
send({"id": 1, "method": "initialize", "params": {"processId": process_id, "capabilities": {}}})
assert "result" in read()
send({"method": "initialized", "params": {}})
if sys.argv[2] == "elsewhere":
    asked = read()
    assert asked["method"] == "$/stet/alive", asked
    send({"id": asked["id"], "error": {"code": -32601, "message": "unknown"}})
if sys.argv[2] != "dead":
    send({"id": 2, "method": "shutdown", "params": None})
    assert read()["id"] == 2
    send({"method": "exit"})
print(server.wait(timeout=60))  # nothing closes the server's input meanwhile
"""


@pytest.mark.parametrize(
    ("process_id", "status"), [("dead", 1), ("elsewhere", 0), ("1099511627776", 0), ("true", 0), ('"x"', 0)]
)
async def test_the_server_watches_the_given_process_id(process_id: str, status: int) -> None:
    """The client's input stays open, as if a child of the client had inherited it."""
    client = await asyncio.create_subprocess_exec(
        sys.executable, "-c", LATE, PROBE, process_id, stdout=asyncio.subprocess.PIPE
    )
    out, _ = await asyncio.wait_for(client.communicate(), TIMEOUT)
    assert out.decode().strip() == str(status)

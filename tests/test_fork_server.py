"""A forked `stet` is to its caller what a started one is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from support.processes.stet import stet_argv
from support.servers.fork_server import forked_argv

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks are Linux's here")


@pytest.mark.parametrize(
    "words",
    [
        ["--version"],
        ["check", "-", "--language", "python"],
        ["config", "show", "--json"],
        ["run", "refactor", "missing.py"],
        ["no-such-command"],
        ["--help"],
    ],
    ids=" ".join,
)
def test_a_forked_process_gives_the_same_output_as_a_started_one(
    words: list[str], environment: Mapping[str, str], tmp_path: Path
) -> None:
    def run(argv: list[str]) -> tuple[int, bytes, bytes]:
        environ = {**environment, "STET_MODEL_TEMPERATURE": "0.3"}
        done = subprocess.run(argv, input=b"def f(:\n", capture_output=True, env=environ, cwd=tmp_path, timeout=100)
        return done.returncode, done.stdout, done.stderr

    assert run(forked_argv(*words)) == run(stet_argv(*words))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_forked_process_ends_with_the_started_one(number: signal.Signals, environment: Mapping[str, str]) -> None:
    pipe = subprocess.PIPE
    server = subprocess.Popen(forked_argv("serve"), stdin=pipe, stdout=pipe, stderr=pipe, env=environment)
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(b'Content-Length: 37\r\n\r\n{"jsonrpc":"2.0","id":1,"method":"x"}')
    server.stdin.flush()
    assert server.stdout.readline(), "it runs"

    os.kill(server.pid, number)

    server.stdout.read()  # ends when the last process that writes there has ended
    assert server.wait(60) == (-signal.SIGKILL if number is signal.SIGKILL else server.returncode)
    server.communicate()

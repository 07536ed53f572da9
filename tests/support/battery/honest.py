"""What any test may do. Where this does not work, that an attack was stopped proves nothing."""

from __future__ import annotations

import multiprocessing
import os
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

Targets = Any


def files(_: Targets) -> str:
    """In the working folder: written, read, renamed, its mode and times changed, removed."""
    file = Path("honest.txt")
    file.write_text("x" * 1000, encoding="ascii")
    file.chmod(0o640)
    os.utime(file, (1, 2))
    file.rename("honest.too")
    assert len(Path("honest.too").read_text(encoding="ascii")) == 1000
    Path("honest.too").unlink()
    return "done"


def temporary(_: Targets) -> str:
    """A temporary folder and a file without a name."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as file:
        file.write(b"x")
        Path(folder, "x").write_text("x", encoding="ascii")
    return "done"


def child(_: Targets) -> str:
    """Another interpreter, ended by a signal."""
    process = subprocess.Popen([sys.executable, "-I", "-S", "-c", "input()"], stdin=subprocess.PIPE)
    process.terminate()
    assert process.wait() == -15
    return "done"


def shown(targets: Targets) -> str:
    """What is shown can be read."""
    assert Path(targets["bound"]).read_text(encoding="ascii")
    return "done"


def thread(_: Targets) -> str:
    """A thread, and a pair of sockets between them."""
    ours, theirs = socket.socketpair()
    worker = threading.Thread(target=theirs.sendall, args=(b"x",))
    worker.start()
    assert ours.recv(1) == b"x"
    worker.join()
    return "done"


def own_loopback(_: Targets) -> str:
    """A server of its own and a client of it."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname(), 2).close()
    return "done"


def own_unix_server(_: Targets) -> str:
    """The same with a path."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("honest.socket")
        server.listen()
        with socket.socket(socket.AF_UNIX) as client:
            client.connect("honest.socket")
    return "done"


def pool(_: Targets) -> str:
    """Locks and queues between processes."""
    context = multiprocessing.get_context("fork")
    with context.Lock():
        queue = context.SimpleQueue()
        queue.put(1)
        assert queue.get() == 1
    return "done"


DEEDS = (files, temporary, child, shown, thread, own_loopback, own_unix_server, pool)

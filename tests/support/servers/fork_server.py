"""`stet` without its start: forked from a process that has imported Stet and done nothing else.

`forked_argv` is a command line like `stet_argv`, a hundredth of whose second goes to `support/relay.py`: that hands its
streams, environment and folder to the fork server, passes signals on and ends as the forked `stet` does, which dies
with it. What the start itself decides (PYTHON* variables, limits, the terminal, names in the list of processes) is
tested with `stet_argv`.

Each process of tests starts one fork server when it first needs one; it ends with them.
"""

from __future__ import annotations

import atexit
import gc
import marshal
import os
import pkgutil
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path

from support.processes.stet import stet_argv

LIBRARIES = (
    "httpcore2",
    "openai",
    "openai.lib.streaming.chat",
    "openai.resources.chat.completions",
    "tree_sitter_javascript",
    "tree_sitter_python",
    "truststore",
)
"""What servers and commands import sooner or later, besides all of Stet."""

ELSEWHERE = (".inside", ".sample", "__main__")
"""What is in the names of modules that run in the sandbox, are no code of ours, or run when they are imported."""

_RELAY = str(Path(__file__).with_name("relay.py"))
_MEASURED = "TESTS_MEASURED"
"""The variable that has a forked process count what it reached."""

_ENDS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def forked_argv(*arguments: str) -> list[str]:
    """The command line of this interpreter's stet, without its start where the system can do without."""
    if sys.platform != "linux":
        return stet_argv(*arguments)
    return [sys.executable, "-I", "-S", _RELAY, _address(), *arguments]


def measured_argv(*arguments: str) -> list[str]:
    """The same, and what the process reached is counted: only where the tests are measured, and on Linux."""
    return ["env", f"{_MEASURED}=1", *forked_argv(*arguments)]


@cache
def _address() -> str:
    """Where this process' fork server listens."""
    name = f"stet-forks-{os.getpid()}-{os.urandom(8).hex()}"
    measure = ["support.measure"] if "support.measure" in sys.modules else []
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"\0{name}")
        listener.listen(64)
        server = subprocess.Popen(
            [sys.executable, "-m", "support.servers.fork_server", str(listener.fileno()), str(os.getpid()), *measure],
            cwd=Path(__file__).parents[2],
            pass_fds=[listener.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
        )
    atexit.register(server.kill)
    assert server.stdout is not None
    with server.stdout:
        server.stdout.readline()  # here, and not in the time that a test gives its first `stet`
    return name


def serve(listener: socket.socket, tests: int) -> list[str]:
    """Forks until the process of the tests has ended; returns in each forked process, with the words of its command."""
    import stet_ls

    ours = (module.name for module in pkgutil.walk_packages(stet_ls.__path__, "stet_ls."))
    for name in (*ours, *LIBRARIES):
        if not any(part in name for part in ELSEWHERE):
            import_module(name)
    gc.freeze()
    os.write(sys.stdout.fileno(), b"ready\n")
    watched = os.pidfd_open(tests)
    while True:
        ready, _, _ = select.select([listener, watched], [], [])
        if watched in ready:
            os._exit(0)
        link, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            os.close(watched)
            return _keep(link)
        link.close()
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _keep(link: socket.socket) -> list[str]:
    """Waits for the end of a further fork, in which it returns, and for that of the relay."""
    size, fds, _, _ = socket.recv_fds(link, 4, 3)
    with link.makefile("rb") as stream:
        words, environment, folder = marshal.loads(stream.read(int.from_bytes(size, "little")))
    child = os.fork()
    if child == 0:
        link.close()
        _become(fds, environment, folder)
        return list(words)
    for fd in fds:
        os.close(fd)
    for number in _ENDS:
        signal.signal(number, signal.SIG_IGN)
    with suppress(OSError):  # the relay was killed
        link.sendall(child.to_bytes(4, "little"))
    ready, _, _ = select.select([link, ended := os.pidfd_open(child)], [], [])
    if ended not in ready:
        os.kill(child, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with suppress(OSError):
        link.sendall(status.to_bytes(4, "little", signed=True))
    os._exit(0)


def _become(fds: list[int], environment: dict[bytes, bytes], folder: bytes) -> None:
    for number, fd in enumerate(fds):
        os.dup2(fd, number)
        os.close(fd)
    for number, name in enumerate(("stdin", "stdout", "stderr")):  # which tell whether they are files or terminals
        old, mode = getattr(sys, name), "w" if number else "r"
        buffering = 1 if name == "stderr" or os.isatty(number) else -1
        new = open(number, mode, buffering, old.encoding, old.errors, "\n", closefd=False)  # noqa: SIM115
        setattr(sys, name, new)
    os.environb.clear()
    os.environb.update(environment)
    os.chdir(folder)
    sys.path.remove(str(Path(__file__).parents[2]))
    tempfile.tempdir = None


def _end(status: str | int | None) -> None:
    """Ends as an interpreter does that takes nothing apart: to free what is shared would copy it first."""
    if isinstance(status, str):
        print(status, file=sys.stderr)
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
    os._exit(int(status is not None) if not isinstance(status, int) else status & 0xFF)


def _main() -> None:
    measure = [import_module(name) for name in sys.argv[3:]]  # before anything of the product
    words = serve(socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2]))
    from stet_ls.server import __main__

    kept = os.environ.pop(_MEASURED, None) and measure
    sys.argv = [str(__main__.__file__), *words]
    try:
        status: str | int | None = __main__.main()
    except SystemExit as exit:
        status = exit.code
    for each in kept or ():
        each.keep()
    _end(status)


if __name__ == "__main__":
    _main()

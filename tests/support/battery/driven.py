"""Starts a driver of the battery as some user, behind walls of its own, and gives back what it wrote down.

Whatever a box lets out is bounded here, too: an unprivileged user by the number of processes that they may have, root by
a control group, both by a watch that ends the driver once the machine has far too many processes, and by a clock.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from support.battery import drive

UNPRIVILEGED = 65534
_TESTS = Path(drive.__file__).parents[2]
_PACKAGES = (_TESTS, *(Path(path) for path in sys.path if "site-packages" in path), _TESTS.parent / "src")
_SAID = b"Content-Length: 2\r\n\r\n{}" * 40
"""What the editor says to the server, more than one attack reads at once."""
_PROOF = "import os, sys; os.stat(sys.executable); import support.battery.drive"
_MOST_OF_ONE_USER, _MOST_HERE = 500, 1500
_SECONDS = 270
_PIDS = Path("/sys/fs/cgroup/pids")


@dataclass(frozen=True, slots=True)
class DriverResult:
    """What a driver found, by name, and what it told its editor."""

    found: Mapping[str, Any]
    output: bytes

    @property
    def is_whole(self) -> bool:
        """The editor's text came back as it was said: no one took of it, and no one added to it."""
        return self.output == _SAID

    @property
    def is_short(self) -> bool:
        """Some of the editor's text was taken."""
        return len(self.output) < len(_SAID)


def users() -> Mapping[str, int]:
    """By name the ids of those who can be attacked as here."""
    return {"root": 0, "no one": UNPRIVILEGED} if os.geteuid() == 0 else {"a user": os.geteuid()}


@functools.cache
def missing(user: int, *, bombs: bool = False) -> str:
    """Why nothing can be driven as this user here; "" if it can."""
    if not _interpreter(user):
        return f"no Python that user {user} may start has what this needs"
    if bombs and user == 0 and not os.access(_PIDS / "cgroup.procs", os.W_OK):
        return "no control group can bound what root starts: bombs go off as an unprivileged user alone"
    return ""


def driven(kind: str, box: str, user: int) -> DriverResult:
    """Drives the attacks (`kind`) on a box as `user`. Fails with what the driver said; skips where the box is not."""
    with contextlib.ExitStack() as stack:
        # Not pytest's own folder, which is shut to other users.
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="stet-battery-")))
        os.chown(folder, user, -1)
        errors = stack.enter_context(tempfile.TemporaryFile())
        prefix = stack.enter_context(_bounded(user))
        argv = [*_as(user), _interpreter(user), "-B", "-m", "support.battery.drive", kind, box, str(folder)]
        process = subprocess.Popen(
            [*prefix, *argv], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, cwd=folder,
            env=_variables(user, folder), start_new_session=True,
        )  # fmt: skip
        for stream in (process.stdin, process.stdout):
            assert stream
            with contextlib.suppress(PermissionError):
                os.fchown(stream.fileno(), user, -1)  # by its name only its owner opens it
        with _watched(process):
            output, _ = process.communicate(_SAID, timeout=_SECONDS)
        errors.seek(0)
        said = errors.read().decode("utf-8", "replace").strip()
        if process.returncode == drive.NO_BOX:
            pytest.skip(said)
        assert process.returncode == 0, said[-3000:]
        return DriverResult(json.loads((folder / f"{kind}.json").read_text(encoding="utf-8")), output)


def _as(user: int) -> list[str]:
    if user == os.geteuid():
        return []
    return ["setpriv", "--reuid", str(user), "--regid", str(user), "--clear-groups"]


def _variables(user: int, folder: Path) -> dict[str, str]:
    path = os.environ["PATH"] if user == os.geteuid() else "/usr/local/bin:/usr/bin:/bin"
    return {"PATH": path, "HOME": str(folder), "PYTHONPATH": ":".join(map(str, _PACKAGES)), drive.PLANTED: "planted"}


@functools.cache
def _interpreter(user: int) -> str:
    """The first Python that the user can start and that finds what a driver imports."""
    here = Path("/")
    for program in (sys.executable, "/usr/bin/python3", "/usr/local/bin/python3"):
        argv = [*_as(user), program, "-B", "-c", _PROOF]
        with contextlib.suppress(OSError):
            if subprocess.run(argv, cwd=here, env=_variables(user, here), capture_output=True).returncode == 0:
                return program
    return ""


@contextlib.contextmanager
def _bounded(user: int) -> Iterator[list[str]]:
    """The words before a command that keep it and all it starts to so many processes."""
    if user:
        running = int(Path("/proc/loadavg").read_text(encoding="ascii").split()[3].partition("/")[2])
        yield ["prlimit", f"--nproc={running + _MOST_OF_ONE_USER}"]
        return
    group = _PIDS / f"stet-battery-{secrets.token_hex(6)}"
    try:
        group.mkdir()
    except OSError:  # attacks start few processes; bombs are not driven here then
        yield []
        return
    try:
        (group / "pids.max").write_text(f"{_MOST_OF_ONE_USER}\n", encoding="ascii")
        yield ["sh", "-c", 'echo $$ > "$0" && exec "$@"', str(group / "cgroup.procs")]
    finally:
        end = time.monotonic() + 5
        while (left := (group / "cgroup.procs").read_text(encoding="ascii").split()) and time.monotonic() < end:
            for process in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(process), signal.SIGKILL)
            time.sleep(0.01)
        group.rmdir()


@contextlib.contextmanager
def _watched(driver: subprocess.Popen[bytes]) -> Iterator[None]:
    """Ends the driver once there are too many processes on this machine, and in any case at the end.

    A program of its own: it has to be quick where this one may have to wait for its turn.
    """
    script = (
        "import os, signal, sys, time\n"
        "while os.getppid() == int(sys.argv[2]):\n"
        f" if sum(name.isdigit() for name in os.listdir('/proc')) > {_MOST_HERE}:\n"
        "  os.killpg(int(sys.argv[1]), signal.SIGKILL); break\n"
        " time.sleep(0.05)\n"
    )
    watch = subprocess.Popen([sys.executable, "-I", "-S", "-c", script, str(driver.pid), str(os.getpid())])
    try:
        yield
    finally:
        watch.kill()
        watch.wait()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(driver.pid, signal.SIGKILL)
        driver.wait()

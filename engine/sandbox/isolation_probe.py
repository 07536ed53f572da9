"""Which walls hold here: tested by attacking them, once for each boot, kernel and version of the tools."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import hashlib
import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stet_ls.engine.errors import StetError
from stet_ls.engine.sandbox.env_vars import ENVIRONMENT
from stet_ls.engine.sandbox.files import mounts
from stet_ls.engine.sandbox.isolation import Wall, WallState
from stet_ls.engine.sandbox.spec import Box, Limits, RunResult, RunSpec, RunStatus

_SCRIPT = Path(__file__).parent / "inside" / "attack.py"
VERSION = hashlib.sha256(_SCRIPT.read_bytes() + Path(__file__).read_bytes()).hexdigest()[:12]
"""Identifies the attacks: an earlier probe lacks the newer ones."""
_MIB = 1024 * 1024
_IPC_CREAT, _IPC_RMID = 0o1000, 0
_MINE = ("canary", "socket", "datagrams")
_SHELL = ("PWD", "OLDPWD", "SHLVL", "_", "LC_CTYPE")  # what shells and Python add by themselves


@dataclass(frozen=True, slots=True)
class WallReport:
    """The walls that hold, and for each of the others what went through it."""

    enforced: Mapping[Wall, WallState]
    holes: Mapping[Wall, str]


class ProbeError(StetError):
    """Honest work is not possible in the sandbox, so its walls cannot be judged."""


async def attack(runner: Box, partly: Mapping[Wall, str] | None = None) -> WallReport:
    """Attacks a sandbox from inside and watches from outside; `partly` are walls that cannot be verified fully.

    Raises ProbeError, and what the runner raises.
    """
    with _targets() as targets:
        spec = RunSpec(
            (sys.executable, "-I", "-S", _SCRIPT.name),
            files={_SCRIPT.name: _SCRIPT.read_bytes()},
            binds=(*mounts.interpreter(), Path(targets.values["bound"]).parent),
            env={"BOX_TARGETS": json.dumps(targets.values)},
        )
        result = await runner.run(spec)
        report = _report(result)
        # An accepted connection or a datagram may show up late; it counts as a hole whenever it does.
        holes = {Wall(wall): "; ".join(reached) for wall, reached in report["holes"].items()}
        for wall, reached in targets.reached():
            holes.setdefault(wall, reached)
    for wall, found in await asyncio.gather(_tree(runner), _memory(runner), _processes(runner), _disk(runner)):
        if found:
            holes[wall] = found
    enforced = {wall: WallState.PARTIAL if wall in (partly or {}) else WallState.YES for wall in Wall}
    enforced.update(dict.fromkeys(holes, WallState.NO))
    return WallReport(enforced, {**(partly or {}), **holes})


def _report(result: RunResult) -> Mapping[str, Any]:
    try:
        report: Mapping[str, Any] = json.loads(result.stdout)
    except ValueError:
        report = {}
    if not report.get("honest"):
        last_line = result.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise ProbeError(
            f"a harmless program does not run in the sandbox ({result.status}{': ' if last_line else ''}{last_line})"
        )
    return report


@dataclass(frozen=True, slots=True)
class _Targets:
    """The targets of the attacks, and how to detect that one was reached."""

    values: Mapping[str, Any]
    reached: Callable[[], Iterator[tuple[Wall, str]]]


_LONGEST = 60
"""Characters of a temporary folder below which the path of a socket still fits into its 107 bytes (unix(7))."""


def _short() -> str | None:
    """The folder of the sockets: the temporary folder, or `/tmp` if its path is too long."""
    return None if len(os.fsencode(tempfile.gettempdir())) <= _LONGEST else "/tmp"  # noqa: S108 - a private folder in it


@contextmanager
def _targets() -> Iterator[_Targets]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="stet-canary-", dir=_short())))
        bound = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="stet-shown-")), "shown")
        canary = folder / "canary"
        for file in (canary, bound):
            file.write_text(secrets.token_hex(8), encoding="ascii")
        before = _states(canary, bound)
        shared = secrets.randbelow(1 << 30) + 1
        libc = ctypes.CDLL(None)
        memory = libc.shmget(shared, 4096, _IPC_CREAT | 0o600)
        stack.callback(libc.shmctl, memory, _IPC_RMID, None)
        name = f"stet-{secrets.token_hex(8)}"
        tcp = _listener(stack, socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0))
        udp = _listener(stack, socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0))
        unix = _listener(stack, socket.AF_UNIX, socket.SOCK_STREAM, str(folder / "socket"))
        abstract = _listener(stack, socket.AF_UNIX, socket.SOCK_STREAM, f"\0{name}")
        datagrams = _listener(stack, socket.AF_UNIX, socket.SOCK_DGRAM, str(folder / "datagrams"))
        listeners = [(tcp, Wall.NETWORK), (udp, Wall.NETWORK)]
        listeners += [(listener, Wall.UNIX_SOCKETS) for listener in (unix, abstract, datagrams)]
        waiting = [sys.executable, "-I", "-S", "-c", "input()"]
        victim = subprocess.Popen(waiting, stdin=subprocess.PIPE, start_new_session=True)
        assert victim.stdin
        stack.callback(victim.stdin.close)  # last: a living victim would report its end to the user
        stack.callback(victim.wait)
        stack.callback(victim.kill)

        def reached() -> Iterator[tuple[Wall, str]]:
            if _states(canary, bound) != before or len(list(folder.iterdir())) > len(_MINE):
                yield Wall.FILES_WRITE, "a file of the user was written"
            for listener, wall in listeners:
                if _was_reached(listener):
                    yield wall, "a listener outside was reached"
            if victim.poll() is not None:
                yield Wall.SIGNALS, "a process outside was ended"

        targets = {
            "canary": str(canary),
            "bound": str(bound),
            "shared": shared,
            "group": victim.pid,
            "private": _private(),
            "tcp": tcp.getsockname()[1],
            "udp": udp.getsockname()[1],
            "unix": str(folder / "socket"),
            "datagrams": str(folder / "datagrams"),
            "abstract": name,
            "victim": victim.pid,
            "variables": [*ENVIRONMENT, *_SHELL, "BOX_TARGETS"],
        }
        yield _Targets(targets, reached)


def _states(*files: Path) -> list[tuple[str, int, int]]:
    """What an attack on files changes: text, mode, time."""
    found = [(file.read_text(encoding="ascii"), file.stat()) for file in files]
    return [(text, status.st_mode, status.st_mtime_ns) for text, status in found]


def _private() -> list[str]:
    """Names in the user's home that no bind leads through."""
    shown = mounts.interpreter()
    names = (entry for entry in Path.home().iterdir() if not any(folder.is_relative_to(entry) for folder in shown))
    return [str(entry) for entry, _ in zip(names, range(5), strict=False)]


def _listener(stack: ExitStack, family: int, kind: int, address: Any) -> socket.socket:
    listener = stack.enter_context(socket.socket(family, kind))
    listener.bind(address)
    if kind == socket.SOCK_STREAM:
        listener.listen()
    listener.setblocking(False)
    return listener


def _was_reached(listener: socket.socket) -> bool:
    try:
        if listener.type == socket.SOCK_DGRAM:
            listener.recv(1)
        else:
            listener.accept()[0].close()
    except BlockingIOError:
        return False
    return True


def _python(script: str, **limits: Any) -> RunSpec:
    return RunSpec((sys.executable, "-I", "-S", "-c", script), binds=mounts.interpreter(), limits=Limits(**limits))


async def _tree(runner: Box) -> tuple[Wall, str]:
    """A process that leaves its session and its parent must end with the run."""
    tag = f"stet-survivor-{secrets.token_hex(8)}"
    script = (
        "import os, sys\n"
        "if os.fork() == 0:\n"
        " os.setsid()\n"
        " if os.fork(): os._exit(0)\n"
        f" os.execv(sys.executable, [sys.executable, '-I', '-S', '-c', 'import time; time.sleep(60)', '{tag}'])\n"
        "os.wait()"
    )
    await runner.run(_python(script))
    alive = await asyncio.to_thread(_tagged, tag)
    return Wall.TREE_KILL, f"process {alive[0]} is still alive" if alive else ""


def _tagged(tag: str) -> list[str]:
    """The processes whose command line contains the tag."""
    if not Path("/proc/self").exists():  # macOS
        listed = subprocess.run(["/bin/ps", "-axww", "-o", "pid=,command="], capture_output=True, check=True)
        return [line.split()[0].decode() for line in listed.stdout.splitlines() if tag.encode() in line]
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if tag.encode() in (process / "cmdline").read_bytes():
                found.append(process.name)
    return found


_HELD = "print('held', flush=True); time.sleep(1)"
_WAYS = {
    "shared memory, which RLIMIT_DATA does not count": (
        f"import mmap, time\nm = mmap.mmap(-1, {256 * _MIB})\nm.write(b'x' * {256 * _MIB})\n{_HELD}"
    ),
    "files without a name, which no process has mapped": (
        "import os, time\n"
        "for _ in range(16):\n"
        " file = os.memfd_create('x')\n"
        f" for _ in range(16): os.write(file, b'x' * {_MIB})\n{_HELD}"
    ),
    "shared memory of System V, which no process has mapped": (
        "import ctypes, time\n"
        "libc = ctypes.CDLL(None)\n"
        "libc.shmat.restype = ctypes.c_void_p\n"
        "for _ in range(16):\n"
        f" number = libc.shmget(0, ctypes.c_size_t({16 * _MIB}), 0o1600)\n"
        " place = libc.shmat(number, None, 0)\n"
        " libc.shmctl(number, 0, None)\n"  # no one else would remove it where there is no wall
        " if number < 0 or place == ctypes.c_void_p(-1).value: raise OSError\n"
        f" ctypes.memset(place, 1, {16 * _MIB})\n{_HELD}"
    ),
    "what sockets hold that no one reads from": (
        "import os, socket, time\n"
        "os.fork()\n"
        "held = [end for _ in range(240) for end in socket.socketpair()]\n"
        "for end in held:\n"
        f" end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, {_MIB})\n"
        " end.setblocking(False)\n"
        " try:\n"
        f"  while end.send(b'x' * {_MIB // 16}): pass\n"
        f" except BlockingIOError: pass\n{_HELD}"
    ),
}
"""Ways to hold far more than 96 MB that the kernel counts for no process, or only once mapped."""


async def _memory(runner: Box) -> tuple[Wall, str]:
    had = []
    for way, script in _WAYS.items():  # one at a time: without a wall each takes all it can
        result = await runner.run(_python(script, memory=96 * _MIB, seconds=2.5))
        if result.status is not RunStatus.MEMORY and b"held" in result.stdout:
            had.append(way)
    return Wall.MEMORY, f"more than the allowed 96 MB were had: {'; '.join(had)}" if had else ""


async def _processes(runner: Box) -> tuple[Wall, str]:
    script = "import os, time\nfor _ in range(60):\n if os.fork() == 0: time.sleep(4); os._exit(0)\ntime.sleep(4)"
    result = await runner.run(_python(script, processes=16, seconds=2.5))
    stopped = result.status in (RunStatus.PROCESSES, RunStatus.FAILED)
    return Wall.PROCESSES, "" if stopped else f"60 processes were had where 16 are allowed ({result.status})"


async def _disk(runner: Box) -> tuple[Wall, str]:
    script = (
        "import time\nfor n in range(16):\n"
        f" with open('f%d' % n, 'wb') as file: file.write(b'x' * {_MIB})\n"
        "time.sleep(4)"
    )
    result = await runner.run(_python(script, scratch=4 * _MIB, seconds=2.5))
    stopped = result.status in (RunStatus.DISK, RunStatus.FAILED)
    return Wall.DISK, "" if stopped else f"16 MB were written where 4 are allowed ({result.status})"

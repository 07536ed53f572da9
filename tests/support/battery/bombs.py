"""Bad input: programs that waste, hide, lie and litter. For each what may truthfully be said of it.

Each is bounded, so that one that gets away does no harm, and only one runs at a time on a machine.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.battery.boxes import Bare, Box

from stet_ls.engine.sandbox import isolation_probe
from stet_ls.engine.sandbox.backends import reaper
from stet_ls.engine.sandbox.files import mounts
from stet_ls.engine.sandbox.processes.procfs import descendants
from stet_ls.engine.sandbox.spec import Limits, Overlay, RunResult, RunSpec, RunStatus

MIB = 1024 * 1024
OK, FAILED, TIMEOUT, KILLED = RunStatus.OK, RunStatus.FAILED, RunStatus.TIMEOUT, RunStatus.KILLED
MEMORY, OUTPUT, DISK, PROCESSES = RunStatus.MEMORY, RunStatus.OUTPUT, RunStatus.DISK, RunStatus.PROCESSES


def _anything(_: RunResult) -> bool:
    return True


def _had_little(result: RunResult) -> bool:
    """It was stopped before it had all that it wanted, each far more than it may have."""
    return b"had" not in result.stdout


@dataclass(frozen=True, slots=True)
class Bomb:
    """A script, its limits, the statuses that are true of it, and what else has to be.

    What one takes that is `shared` is seen from outside, too: the machine never has as much more of shared memory.
    """

    script: str
    truthful: tuple[RunStatus, ...]
    limits: Mapping[str, float] = field(default_factory=dict)
    holds: Callable[[RunResult], bool] = _anything
    artifacts: tuple[str, ...] = ()
    report: bool = False
    shared: bool = False


_BYTES = bytes(range(256)) * 16

BOMBS: dict[str, Bomb] = {
    "endless_output": Bomb("while True: print('x' * 1000)", (OUTPUT,), {"output": MIB // 4}),
    "endless_errors": Bomb("while True: os.write(2, b'x' * 1000)", (OUTPUT,), {"output": MIB // 4}),
    "binary_output": Bomb("os.write(1, bytes(range(256)) * 16)", (OK,), holds=lambda result: result.stdout == _BYTES),
    "sparse_terabyte": Bomb("open('f', 'wb').truncate(1 << 40)", (FAILED, DISK)),
    "large_file": Bomb("open('f', 'wb').write(bytes(100 << 20))", (FAILED, DISK), {"file": 8 * MIB}),
    "many_large_files": Bomb(
        "for n in range(12): open(f'f{n}', 'wb').write(bytes(2 << 20))\ntime.sleep(5)", (FAILED, DISK),
        {"scratch": 8 * MIB},
    ),
    "many_files": Bomb(
        "for n in range(20_000): open(f'f{n}', 'w').close()\ntime.sleep(5)", (FAILED, DISK), {"scratch_files": 1000},
    ),
    "many_folders": Bomb(
        "for n in range(1000): os.mkdir('d'); os.chdir('d')", (OK, FAILED, DISK),
    ),
    "fork_bomb": Bomb(
        "for _ in range(300):\n try: child = os.fork()\n except OSError: continue\n"
        " if not child: time.sleep(5); os._exit(0)\ntime.sleep(5)",
        (PROCESSES,), {"processes": 32},
    ),
    "fork_tree": Bomb(
        # Where the kernel refuses the next one, those that are there may end well.
        "for _ in range(8):\n try: os.fork()\n except OSError: os.write(1, b'refused')\ntime.sleep(5)",
        (PROCESSES, FAILED, OK), {"processes": 32},
        holds=lambda result: result.status is not OK or b"refused" in result.stdout,
    ),
    "thread_bomb": Bomb(
        "import threading\nfor _ in range(2000): threading.Thread(target=time.sleep, args=(5,), daemon=True).start()",
        (FAILED, PROCESSES, MEMORY, TIMEOUT), {"processes": 32, "seconds": 2},
    ),
    "memory_of_one": Bomb(
        "bytearray(600 << 20)", (FAILED,), {"data": 128 * MIB}, holds=lambda result: b"MemoryError" in result.stderr,
    ),
    "memory_of_many": Bomb(
        "for _ in range(8):\n if not os.fork(): x = bytearray(b'x') * (40 << 20); time.sleep(5); os._exit(0)\n"
        "time.sleep(5)",
        (MEMORY,), {"memory": 128 * MIB},
    ),
    "memory_that_is_shared": Bomb(
        "import mmap\nm = mmap.mmap(-1, 200 << 20); m.write(b'x' * (200 << 20)); time.sleep(5)", (MEMORY,),
        {"memory": 96 * MIB},
    ),
    "memory_in_files_without_a_name": Bomb(
        "for _ in range(40):\n f = os.memfd_create('x')\n for _ in range(15): os.write(f, b'x' * (1 << 20))\n"
        "print('had'); time.sleep(2)",
        (MEMORY, FAILED), {"memory": 256 * MIB}, holds=_had_little, shared=True,
    ),
    "memory_of_system_v": Bomb(
        "import ctypes\nlibc = ctypes.CDLL(None)\nlibc.shmat.restype = ctypes.c_void_p\nfor _ in range(40):\n"
        " i = libc.shmget(0, ctypes.c_size_t(15 << 20), 0o1600)\n p = libc.shmat(i, None, 0)\n"
        " libc.shmctl(i, 0, None)\n if i < 0: raise OSError('refused')\n ctypes.memset(p, 1, 15 << 20)\n"
        "print('had'); time.sleep(2)",
        (MEMORY, FAILED), {"memory": 256 * MIB}, holds=_had_little, shared=True,
    ),
    "memory_of_sockets": Bomb(
        "import socket\nfor _ in range(7):\n if not os.fork(): break\nk = []\nfor _ in range(240):\n"
        " k.append(socket.socketpair())\n for s in k[-1]:\n  s.setsockopt(1, 7, 1 << 22); s.setblocking(False)\n"
        "  try:\n   while True: s.send(b'x' * 65536)\n  except BlockingIOError: pass\n"
        "print('had'); time.sleep(2)",
        (MEMORY,), {"memory": 256 * MIB}, holds=_had_little,
    ),
    "memory_of_page_tables": Bomb(
        "import mmap\nm = mmap.mmap(-1, 150 << 30, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000, mmap.PROT_READ)\n"
        "for n in range(0, 150 << 30, 2 << 20): m[n]\nprint('had'); time.sleep(2)",
        (MEMORY,), {"memory": 96 * MIB}, holds=_had_little,
    ),
    "processor": Bomb("while True: pass", (TIMEOUT,)),
    "sleep": Bomb("time.sleep(60)", (TIMEOUT,)),
    "ignores_sigterm": Bomb(
        "for n in range(1, 65):\n try: signal.signal(n, signal.SIG_IGN)\n except (OSError, ValueError): pass\n"
        "while True: time.sleep(9)",
        (TIMEOUT,),
    ),
    "stops_itself": Bomb("os.kill(os.getpid(), signal.SIGSTOP)", (TIMEOUT,)),
    "closes_its_output": Bomb("for n in range(3): os.close(n)\ntime.sleep(60)", (TIMEOUT,)),
    "daemon": Bomb(
        "if not os.fork():\n os.setsid()\n if os.fork(): os._exit(0)\n"
        " os.execv(sys.executable, [sys.executable, '-I', '-S', '-c', 'import time; time.sleep(60)', sys.argv[1]])\n"
        "os.wait(); print('away')",
        (OK,), holds=lambda result: result.stdout == b"away\n",
    ),
    "keeper_of_the_pipe": Bomb(
        "if not os.fork():\n os.setsid()\n"
        " os.execv(sys.executable, [sys.executable, '-I', '-S', '-c', 'import time; time.sleep(60)', sys.argv[1]])",
        (OK,),
    ),
    "deletes_itself": Bomb(
        "import pathlib\npathlib.Path(__file__).unlink()\nprint('5 passed')\nassert 0", (FAILED,),
        holds=lambda result: result.exit == 1 and not result.report, report=True,
    ),
    "says_passed_and_leaves": Bomb(
        "print('===== 5 passed in 0.01s ====='); os._exit(0)", (OK,), holds=lambda result: not result.report, report=True,
    ),
    "forges_a_report": Bomb(
        "for n in range(3, 64):\n try: os.write(n, b'{\"passed\": 5}\\n')\n except OSError: pass", (OK,),
        holds=lambda result: not result.report and not result.artifacts and result.exit == 0,
    ),
    "huge_report": Bomb(
        "n = int(os.environ['BOX_REPORT_FD'])\nfor _ in range(12): os.write(n, b'x' * (1 << 20))", (OK, OUTPUT),
        holds=lambda result: 0 < len(result.report) < 9 * MIB, report=True,
    ),
    "huge_arguments": Bomb(
        "os.execv(sys.executable, [sys.executable, '-c', 'import sys; print(len(sys.argv[2]))', sys.argv[1],"
        " 'x' * 100_000])",
        (OK,), holds=lambda result: result.stdout == b"100000\n",
    ),
    "dies_of_a_signal": Bomb("os.abort()", (KILLED,), holds=lambda result: result.signal == signal.SIGABRT),
    "locked_folders": Bomb(
        "os.mkdir('d'); open('d/f', 'w').close(); os.mkdir('d/e'); os.chmod('d/e', 0); os.chmod('d', 0)\n"
        "os.chmod('.', 0)",
        (OK,),
    ),
    "results_that_are_no_files": Bomb(
        "os.symlink('/etc/hostname', 'a'); os.mkfifo('b'); open('c', 'w').write('c'); os.mkdir('d')\n"
        "os.symlink('/etc', 'd/e'); os.link('c', 'd/c'); open('sparse', 'wb').truncate(30 << 20)",
        (OK,), artifacts=("a", "b", "c", "d", "sparse", "d/e/hostname"),
        holds=lambda result: {"c"} <= set(result.artifacts) <= {"c", "d/c"}
        and set(result.artifacts.values()) == {b"c"},
    ),
}  # fmt: skip
_SHORT = {"sleep": 0.4, "processor": 0.4, "ignores_sigterm": 0.4, "stops_itself": 0.4, "closes_its_output": 0.4}


async def all_of(box: Box, place: Path, own: Path) -> dict[str, str]:
    """What is wrong with each, by name; "" for nothing."""
    if isinstance(box, Bare):
        raise SystemExit("not without a box")
    found = {name: await _one(box, name, bomb, own) for name, bomb in BOMBS.items()}
    for case in (_workspace, _cancelled, _cancelled_early, _server_killed, _server_killed_early):
        found[case.__name__[1:]] = await case(box, place, own)
    found["many_runs"] = await _many_runs(box, own)
    return found


async def _one(box: Box, name: str, bomb: Bomb, own: Path) -> str:
    tag = _tag()
    before = _things(own)
    text = f"import os, signal, sys, time\n{bomb.script}\n"
    spec = RunSpec(
        (sys.executable, "-E", "-s", "-S", "bomb.py", tag),
        files={"bomb.py": text.encode()},
        binds=mounts.interpreter(),
        limits=Limits(**{"seconds": _SHORT.get(name, 8.0), "wall_factor": 60.0, **bomb.limits}),  # type: ignore[arg-type]
        artifacts=bomb.artifacts,
        report=bomb.report,
    )
    running = asyncio.create_task(box.run(spec))
    most = await _most_shared(running) if bomb.shared else 0
    result = await running
    wrong = [f"{most >> 20} MB more of shared memory were in use"] if most > _MUCH else []
    if result.status not in bomb.truthful:
        wrong.append(f"said {result.status} {result.detail} {result.stderr[-300:]!r}")
    if not bomb.holds(result):
        wrong.append(f"{result.exit} {result.signal} {result.stdout[-100:]!r} {result.stderr[-300:]!r}")
    return "; ".join(wrong + _left(tag, before, own))


_MUCH = 550 * MIB
"""Of the 600 that a bomb wants; others on this machine may take some meanwhile."""


async def _most_shared(running: asyncio.Task[RunResult]) -> int:
    """How many bytes of shared memory more than now the whole machine has at most while a box runs."""
    before, most = _shared(), 0
    while not running.done():
        most = max(most, _shared() - before)
        await asyncio.wait({running}, timeout=0.02)
    return most


def _shared() -> int:
    lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("Shmem:"))


async def _workspace(box: Box, place: Path, own: Path) -> str:
    """Whatever is done to a workspace, its files, history and hooks stay, and no mode or link reaches through."""
    root = place / "workspace"
    (root / ".git" / "hooks").mkdir(parents=True)
    (root / "src").mkdir()
    (root / "src" / "a.py").write_text("saved", encoding="ascii")
    (root / ".env").write_text("KEY=1", encoding="ascii")
    (place / "precious").write_text("precious", encoding="ascii")
    (root / "link").symlink_to(place / "precious")
    before = _picture(place)
    script = (
        "cat .env .git/config link 2>/dev/null; mkdir -p .git/hooks src/.git/hooks; echo evil > .git/hooks/pre-commit;"
        " echo evil > src/.git/hooks/pre-commit; echo evil > link; echo evil > src/a.py; chmod 777 src src/a.py;"
        " touch -t 200001010000 src/a.py; mknod src/b.py c 0 0; rm -rf src; ln -s / everything; mkfifo pipe; exit 0"
    )
    spec = RunSpec(("sh", "-c", script), overlay=Overlay(root, {"src/c.py": b"unsaved"}))
    results = [await box.run(spec), await box.run(spec)]
    wrong = [f"said {each.status} {each.stdout!r}" for each in results if each.status is not OK or each.stdout]
    if _picture(place) != before:
        wrong.append("the workspace has changed")
    return "; ".join(wrong)


async def _cancelled(box: Box, _: Path, own: Path) -> str:
    return await _cancelled_when(box, own, _daemon_runs)


async def _cancelled_early(box: Box, _: Path, own: Path) -> str:
    """While the box is being built: when its first process is there, or its second."""
    mine = set(descendants(os.getpid()))
    wrong = [
        await _cancelled_when(box, own, lambda _, many=many: len({*descendants(os.getpid())} - mine) >= many)  # type: ignore[misc]
        for many in (1, 2) * 4
    ]
    return "; ".join(filter(None, wrong))


async def _cancelled_when(box: Box, own: Path, when: Callable[[str], object]) -> str:
    tag, before = _tag(), _things(own)
    task = asyncio.create_task(box.run(_daemon(tag)))
    await _until(lambda: when(tag), period=0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    return "; ".join(_left(tag, before, own))


async def _server_killed(_: Box, __: Path, own: Path) -> str:
    """A server that starts the run and is killed without a word."""
    tag = await _killed_when(own, lambda tag, _: _daemon_runs(tag), 0)
    await _until(lambda: not isolation_probe._tagged(tag))
    return ""


async def _server_killed_early(_: Box, __: Path, own: Path) -> str:
    """While the box is being built: then what is left may wait for the next start, and no longer."""
    for many, seconds in ((1, 0.0), (1, 0.005), (2, 0.0), (2, 0.005), (2, 0.01)):
        tag = await _killed_when(own, lambda _, server, many=many: len(list(descendants(server))) >= many, seconds)  # type: ignore[misc]
        await asyncio.sleep(0.1)  # for a box that is on its way to be built, or gone
        await _until(lambda tag=tag: _is_gone(tag))  # type: ignore[misc]
    return ""


def _is_gone(tag: str) -> bool:
    """Once the next start has ended what waits for it."""
    reaper.end_orphans()
    return not isolation_probe._tagged(tag)


async def _killed_when(own: Path, when: Callable[[str, int], object], seconds: float) -> str:
    tag = _tag()
    server = subprocess.Popen([sys.executable, "-m", "support.battery.doomed", sys.argv[2], str(own), tag])
    await _until(lambda: when(tag, server.pid), period=0)
    await asyncio.sleep(seconds)
    server.kill()
    server.wait()
    return tag


async def _many_runs(box: Box, own: Path) -> str:
    before, tag = _things(own), _tag()
    for _ in range(5):
        await asyncio.gather(*(box.run(RunSpec(("true",), report=True, artifacts=("x",))) for _ in range(4)))
    return "; ".join(_left(tag, before, own))


def _daemon_runs(tag: str) -> bool:
    return any(b"\0import time; time.sleep(60)\0" in _command(process) for process in isolation_probe._tagged(tag))


def _command(process: str) -> bytes:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}/cmdline").read_bytes()
    return b""


def _daemon(tag: str) -> RunSpec:
    script = (
        "import os, sys, time\nif not os.fork():\n os.setsid()\n if os.fork(): os._exit(0)\n"
        " os.execv(sys.executable, [sys.executable, '-I', '-S', '-c', 'import time; time.sleep(60)', sys.argv[1]])\n"
        "time.sleep(60)"
    )
    return RunSpec(
        (sys.executable, "-I", "-S", "-c", script, tag), binds=mounts.interpreter(), limits=Limits(seconds=50)
    )


def _tag() -> str:
    return f"stet-battery-{secrets.token_hex(8)}"


def _things(own: Path) -> dict[str, Any]:
    """What a run might leave: children, descriptors, mounts, files."""
    return {
        "processes": set(descendants(os.getpid())),
        "descriptors": len(os.listdir("/proc/self/fd")),
        "mounts": Path("/proc/self/mounts").read_bytes().count(b"\n"),
        "files": {str(path) for path in own.rglob("*") if path.parent.name in ("runs", "layers")},
    }


def _left(tag: str, before: dict[str, Any], own: Path) -> list[str]:
    after = _things(own)
    left = [f"{name}: {before[name]} -> {value}" for name, value in after.items() if value != before[name]]
    alive = isolation_probe._tagged(tag)
    for process in alive:
        subprocess.run(["/bin/kill", "-9", process], check=False)
    return [*left, *(f"process {process} lives on" for process in alive)]


def _picture(folder: Path) -> list[tuple[object, ...]]:
    paths = sorted([folder, *folder.rglob("*")])
    return [(str(path), path.lstat().st_mode, path.lstat().st_mtime_ns, path.lstat().st_ino) for path in paths]


async def _until(true: Callable[[], object], seconds: float = 60, period: float = 0.02) -> None:
    async with asyncio.timeout(seconds):
        while not true():  # another program's doing: no event tells of it
            await asyncio.sleep(period)

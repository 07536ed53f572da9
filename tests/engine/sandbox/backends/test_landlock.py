"""The box without namespaces, on three versions of Landlock: 7 is young, 4 is that of Ubuntu 24.04, 1 the first."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.processes.tools import needs

from stet_ls.engine.errors import PolicyError
from stet_ls.engine.runners import toolchain
from stet_ls.engine.sandbox import isolation_probe
from stet_ls.engine.sandbox.backends.landlock_box import PARTLY, LandlockBox
from stet_ls.engine.sandbox.files import mounts, scratch
from stet_ls.engine.sandbox.isolation import IsolationLevel, IsolationReport, Wall, level_of
from stet_ls.engine.sandbox.linux import landlock
from stet_ls.engine.sandbox.processes import process_tree
from stet_ls.engine.sandbox.sandbox import Sandbox
from stet_ls.engine.sandbox.spec import Limits, RunSpec, RunStatus

MIB = 1024 * 1024
UNPROVEN = IsolationReport("landlock", "", IsolationLevel.NONE)


@pytest.fixture(params=[7, 4, 1], ids="ABI {}".format)
def box(request: pytest.FixtureRequest, folder: Path) -> LandlockBox:
    if landlock.abi() < request.param:
        pytest.skip(f"the kernel has Landlock's ABI {landlock.abi()}")
    return LandlockBox(request.param, folder, UNPROVEN)


def python(script: str, *binds: Path, **limits: float) -> RunSpec:
    return RunSpec(
        (sys.executable, "-I", "-c", script),
        binds=(*mounts.interpreter(), *binds),
        limits=Limits(**limits),  # type: ignore[arg-type]
    )


def tagged(tag: str) -> list[str]:
    return isolation_probe._tagged(tag)


async def test_only_known_attacks_succeed(box: LandlockBox) -> None:
    probed = await isolation_probe.attack(box, PARTLY)

    assert set(probed.holes) == {Wall.FILES_SEEN, Wall.DISK}
    assert level_of(probed.enforced) is IsolationLevel.STRONG


HONEST = {
    "ends its child": "p = subprocess.Popen(['sleep', '60']); p.terminate(); assert p.wait() == -15",
    "kills what it stopped": "p = subprocess.Popen(['sleep', '60']); p.send_signal(19); p.kill()\n"
    "assert p.wait() == -9",
    "signals itself": "signal.signal(10, lambda *_: print('heard')); os.kill(os.getpid(), 10); signal.raise_signal(10)",
    "signals a thread": "signal.signal(10, lambda *_: 0); signal.pthread_kill(threading.main_thread().ident, 10)",
    "signals its group": "signal.signal(10, lambda *_: 0); os.killpg(0, 10); os.killpg(os.getpgid(0), 10)",
    "ends a group": "p = subprocess.Popen(['sh', '-c', 'sleep 60'], start_new_session=True)\n"
    "os.killpg(p.pid, 9); assert p.wait() == -9",
    "changes modes": "open('f', 'w').close(); os.chmod('f', 0o640); assert os.stat('f').st_mode & 0o777 == 0o640\n"
    "d = os.open('.', 0); os.chmod('f', 0o600, dir_fd=d); g = os.open('f', 0); os.fchmod(g, 0o755)\n"
    "assert os.stat('f').st_mode & 0o777 == 0o755",
    "changes times": "open('f', 'w').close(); os.utime('f', (1, 2)); assert os.stat('f').st_mtime == 2\n"
    "os.utime('f'); assert os.stat('f').st_mtime > 9; os.utime(os.open('f', 0), (1, 3))\n"
    "assert os.stat('f').st_mtime == 3",
    "copies": "open('f', 'w').write('x'); shutil.copy2('f', 'g'); shutil.copytree('.', '../tmp/t')\n"
    "shutil.rmtree('../tmp/t')",
    "uses temporary files": "tempfile.TemporaryDirectory().cleanup(); tempfile.TemporaryFile().write(b'x')",
    "pairs of sockets": "a, b = socket.socketpair(); a.send(b'x'); assert b.recv(1) == b'x'",
    "an event loop": "import asyncio\n"
    "async def main(): p = await asyncio.create_subprocess_exec('true'); assert await p.wait() == 0\n"
    "asyncio.run(main())",
    "a thread": "t = threading.Thread(target=print); t.start(); t.join()",
}
IMPORTS = "import os, shutil, signal, socket, subprocess, sys, tempfile, threading\n"


@pytest.mark.parametrize("script", HONEST.values(), ids=HONEST.keys())
async def test_ordinary_programs_work(box: LandlockBox, script: str) -> None:
    result = await box.run(python(IMPORTS + script))

    assert (result.status, result.stderr) == (RunStatus.OK, b"")


NOT_HERE = {
    "a pool": "import multiprocessing as m\nwith m.Pool(2) as pool: pool.map(abs, [1])",
    "a server on loopback": "socket.create_server(('127.0.0.1', 0))",
    "a server on a path": "socket.socket(socket.AF_UNIX).bind('s')",
}


@pytest.mark.parametrize("script", NOT_HERE.values(), ids=NOT_HERE.keys())
async def test_known_limitations_of_ordinary_programs_are_listed(box: LandlockBox, script: str) -> None:
    """Each fails with PermissionError, by which a failure is known as one of the environment."""
    result = await box.run(python(IMPORTS + script))

    assert result.status is RunStatus.FAILED
    assert b"PermissionError" in result.stderr


async def test_an_abort_is_reported_as_its_signal(box: LandlockBox) -> None:
    result = await box.run(python("import os; os.abort()"))

    assert (result.status, result.signal) == (RunStatus.KILLED, signal.SIGABRT)


async def test_modes_and_times_of_outside_files_do_not_change(box: LandlockBox, tmp_path: Path) -> None:
    shown = tmp_path / "shown"
    shown.mkdir()
    file = shown / "file"
    file.write_text("mine")
    file.chmod(0o640)
    before = file.stat()
    script = f"""
import fcntl, os
file = {str(file)!r}
os.symlink(file, "link")
os.symlink(os.path.dirname(file), "folder")
opened = os.open(file, os.O_RDONLY)
for way in (
    lambda: os.chmod(file, 0o777), lambda: os.chmod("link", 0o777), lambda: os.chmod("folder/file", 0o777),
    lambda: os.fchmod(opened, 0o777), lambda: os.chmod(f"/proc/self/fd/{{opened}}", 0o777),
    lambda: os.chmod("file", 0o777, dir_fd=os.open("folder", os.O_RDONLY)), lambda: os.utime(file, (1, 1)),
    lambda: os.utime("link", (1, 1)), lambda: os.utime(opened, (1, 1)), lambda: os.chown(file, -1, -1),
    lambda: os.chmod("../../../" + os.path.basename(file), 0o777), lambda: os.truncate(file, 0),
    lambda: os.open(file, os.O_RDONLY | os.O_TRUNC), lambda: fcntl.ioctl(opened, 0x40086602, b"\\x40" + bytes(7)),
    lambda: os.setxattr(file, "user.x", b"x"),
):
    try:
        way()
    except OSError:
        continue
    print("went through")
"""
    result = await box.run(python(script, shown))

    assert (result.status, result.stdout, result.stderr) == (RunStatus.OK, b"", b"")
    after = file.stat()
    assert (after.st_mode, after.st_mtime_ns, after.st_ctime_ns) == (
        before.st_mode,
        before.st_mtime_ns,
        before.st_ctime_ns,
    )


async def test_a_path_that_changes_during_the_check_is_refused(box: LandlockBox, tmp_path: Path) -> None:
    """Two threads: one asks for a mode, the other exchanges the name in memory and the link that it names."""
    file = tmp_path / "file"
    file.write_text("mine")
    file.chmod(0o640)
    script = f"""
import ctypes, os, threading, time
outside, inside = {os.fsencode(file)!r}, os.fsencode(os.path.abspath("f"))
open("f", "w").close()
name = ctypes.create_string_buffer(4096)
over = False
def exchange():
    while not over:
        name.value = outside
        name.value = inside
        os.symlink(outside, "l"); os.replace("l", "g"); os.symlink(inside, "l"); os.replace("l", "g")
thread = threading.Thread(target=exchange)
thread.start()
libc = ctypes.CDLL(None)
done = 0
end = time.monotonic() + 1
while time.monotonic() < end or not done:
    done += libc.chmod(name, 0o666) == 0
    libc.chmod(b"g", 0o666)
over = True
thread.join()
print(done)
"""
    result = await box.run(python(script))

    assert int(result.stdout) > 0, result.stderr
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


ENDLESS = {
    "waits": ("import time; time.sleep(60)", {"seconds": 0.5, "wall_factor": 90}, RunStatus.TIMEOUT),
    "ignores SIGTERM": (
        "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(60)",
        {"seconds": 0.5, "wall_factor": 90},
        RunStatus.TIMEOUT,
    ),
    "writes without end": ("while True: print('x' * 1000)", {"seconds": 60, "output": MIB}, RunStatus.OUTPUT),
    # It grows no further than 128: as root, in a box whose wall is down, an endless one would take the machine.
    "forks and forks": (
        "import os, time\nfor _ in range(7):\n try: os.fork()\n except OSError: pass\ntime.sleep(60)",
        {"seconds": 60, "processes": 32},
        RunStatus.PROCESSES,
    ),
    "one huge file": ("open('f', 'wb').truncate(1 << 40)", {"seconds": 60, "file": MIB}, RunStatus.FAILED),
    "many files": (
        "import time\nfor n in range(400): open(f'f{n}', 'w').close()\ntime.sleep(60)",
        {"seconds": 60, "scratch_files": 100},
        RunStatus.DISK,
    ),
    "files without a name": (
        "import os, time\nkept = []\nfor n in range(8):\n f = open('f', 'wb'); f.write(b'x' * (1 << 20)); f.flush()\n"
        " os.unlink('f'); kept.append(f)\ntime.sleep(60)",
        {"seconds": 60, "scratch": 4 * MIB},
        RunStatus.DISK,
    ),
}


@pytest.mark.parametrize(("script", "limits", "status"), ENDLESS.values(), ids=ENDLESS.keys())
async def test_a_limit_ends_the_run(box: LandlockBox, script: str, limits: dict[str, float], status: RunStatus) -> None:
    result = await box.run(python(script, **limits))

    assert result.status is status, result.stderr


async def test_the_number_of_processes_is_limited_from_the_start(
    box: LandlockBox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_tree, "measure", lambda *_: process_tree.TreeUsage())
    script = (
        "import os, time\nmade = 0\nfor _ in range(150):\n try:\n  if os.fork() == 0: time.sleep(60); os._exit(0)\n"
        "  made += 1\n except BlockingIOError: pass\nprint(made)"
    )
    result = await box.run(python(script, processes=8))

    assert 8 <= int(result.stdout) < (40 if os.geteuid() == 0 else 151)


async def test_leftover_files_are_removed(box: LandlockBox) -> None:
    script = (
        "import os\nos.mkdir('locked'); open('locked/f', 'w').close(); os.chmod('locked', 0)\n"
        "for _ in range(1500):\n os.mkdir('d' * 50); os.chdir('d' * 50)"
    )
    result = await box.run(python(script))

    assert (result.status, result.stderr) == (RunStatus.OK, b"")
    assert list((box.folder / "runs").iterdir()) == []


async def test_artifacts_are_regular_files(box: LandlockBox) -> None:
    script = "ln -s /etc/passwd a; mkfifo b; mkdir d; echo c > d/c; ln -s /etc d/e; echo $BOX"
    result = await box.run(RunSpec(("sh", "-c", script), artifacts=("a", "b", "d", "d/e/passwd")))

    assert result.artifacts == {"d/c": b"c\n"}


async def test_the_folder_of_other_sandboxes_is_denied(box: LandlockBox) -> None:
    spec = RunSpec(
        ("sh", "-c", 'cat "$1" "${2#--file=}" && cat "$NAMED"', "sh", "/box/a", "--file=/box/a"),
        files={"a": b"x"},
        env={"NAMED": "/box/a"},
    )

    assert (await box.run(spec)).stdout == b"xxx"


async def test_only_the_report_descriptor_is_inherited(box: LandlockBox) -> None:
    script = "import os; os.write(int(os.environ['BOX_REPORT_FD']), b'said'); print(sorted(os.environ)); os._exit(3)"
    spec = RunSpec((sys.executable, "-I", "-c", script), binds=mounts.interpreter(), report=True)

    result = await box.run(spec)

    assert (result.report, result.status, result.exit) == (b"said", RunStatus.FAILED, 3)
    assert b"STET" not in result.stdout


async def test_a_missing_program_has_the_no_runner_status(box: LandlockBox) -> None:
    assert (await box.run(RunSpec(("no-such-program",)))).status is RunStatus.NO_RUNNER


DAEMON = (
    "import os, sys, time\nif os.fork() == 0:\n os.setsid()\n if os.fork(): os._exit(0)\n"
    " os.execv(sys.executable, [sys.executable, '-I', '-S', '-c', 'import time; time.sleep(60)', {tag!r}])\n"
    "time.sleep(60)"
)


async def test_a_cancelled_run_leaves_no_process_and_no_files(box: LandlockBox) -> None:
    tag = f"cancelled-{os.getpid()}-{box.abi}"
    task = asyncio.create_task(box.run(python(DAEMON.format(tag=tag), seconds=30)))
    await until(lambda: len(tagged(tag)) > 1)

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert tagged(tag) == []
    assert list((box.folder / "runs").iterdir()) == []


SERVER = """
import asyncio, sys
from pathlib import Path
from stet_ls.engine.sandbox.backends.landlock_box import LandlockBox
from stet_ls.engine.sandbox.isolation import IsolationLevel, IsolationReport
from stet_ls.engine.sandbox.files import mounts
from stet_ls.engine.sandbox.spec import Limits, RunSpec
box = LandlockBox(int(sys.argv[1]), Path(sys.argv[2]), IsolationReport("landlock", "", IsolationLevel.NONE))
asyncio.run(box.run(RunSpec((sys.executable, "-I", "-c", sys.stdin.read()), binds=mounts.interpreter(),
                            limits=Limits(seconds=50))))
"""


async def test_a_killed_server_leaves_no_process_and_its_folder_is_removed_later(box: LandlockBox) -> None:
    tag = f"orphan-{os.getpid()}-{box.abi}"
    server = subprocess.Popen([sys.executable, "-c", SERVER, str(box.abi), str(box.folder)], stdin=subprocess.PIPE)
    assert server.stdin
    server.stdin.write(DAEMON.format(tag=tag).encode())
    server.stdin.close()
    await until(lambda: len(tagged(tag)) > 1)

    server.kill()
    server.wait()

    await until(lambda: not tagged(tag))
    assert scratch.sweep(box.folder / "runs") == 1
    assert list((box.folder / "runs").iterdir()) == []


async def until(true: object, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not true():  # type: ignore[operator]
        assert time.monotonic() < end, "it did not come about"
        await asyncio.sleep(0.02)


async def test_a_folder_in_use_is_not_removed(folder: Path) -> None:
    with scratch.scratch(folder / "runs") as used:
        assert scratch.sweep(folder / "runs") == 0
        assert used.exists()


@pytest.mark.skipif(not landlock.abi(), reason="the kernel has no Landlock")
async def test_a_weaker_sandbox_is_never_used_without_consent(folder: Path) -> None:
    asked: list[tuple[IsolationLevel, IsolationLevel]] = []
    answers = [False, True]

    async def ask(report: IsolationReport, needed: IsolationLevel) -> bool:
        asked.append((report.level, needed))
        return answers.pop(0)

    sandbox = Sandbox(IsolationLevel.FULL, folder, backend="landlock", ask=ask)

    with pytest.raises(PolicyError, match="isolation full is required, and only strong"):
        await sandbox.run(RunSpec(("true",)))
    assert (await sandbox.run(RunSpec(("true",)))).isolation.level is IsolationLevel.STRONG
    assert asked == [(IsolationLevel.STRONG, IsolationLevel.FULL)] * 2
    with pytest.raises(PolicyError):
        await Sandbox(IsolationLevel.FULL, folder, backend="landlock").run(RunSpec(("true",)))


@needs("node")
async def test_node_gets_values_that_it_would_read_in_proc_and_etc(box: LandlockBox) -> None:
    """Vite asks for the address of "localhost" when it starts, a worker of Vitest for its memory when it ends."""
    script = (
        "const { promises } = require('node:dns');\n"
        "promises.lookup('localhost').then(({ address }) => console.log(address, process.memoryUsage().rss > 1e6));\n"
        "promises.lookup('example.org').catch((error) => console.log(error.syscall));"
    )
    node = toolchain.find("node", install="")

    result = await box.run(RunSpec((str(node.path), "-e", script), binds=node.binds))

    assert sorted(result.stdout.split(b"\n")) == [b"", b"127.0.0.1 true", b"getaddrinfo"], result

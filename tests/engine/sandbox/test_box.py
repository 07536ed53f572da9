"""Runs in a real box: honest programs work, others end, and nothing of either is left."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from stet_ls.engine.errors import PolicyError
from stet_ls.engine.sandbox.backends.bwrap import Bwrap
from stet_ls.engine.sandbox.files import mounts
from stet_ls.engine.sandbox.isolation import IsolationLevel
from stet_ls.engine.sandbox.processes.procfs import children
from stet_ls.engine.sandbox.sandbox import Sandbox
from stet_ls.engine.sandbox.spec import Limits, Overlay, RunSpec, RunStatus

MIB = 1024 * 1024


def python(script: str, **limits: float) -> RunSpec:
    argv = (sys.executable, "-I", "-S", "-c", script)
    return RunSpec(argv, binds=mounts.interpreter(), limits=Limits(**limits))  # type: ignore[arg-type]


async def test_files_go_in_and_artifacts_come_out(box: Bwrap) -> None:
    spec = RunSpec(
        (sys.executable, "-c", "import pathlib as p; p.Path('out').mkdir(); p.Path('out/up.txt').write_text("
         "p.Path('in/a.txt').read_text().upper()); print('done')"),
        files={"in/a.txt": b"quiet"},
        binds=mounts.interpreter(),
        artifacts=("out",),
    )  # fmt: skip

    result = await box.run(spec)

    assert (result.status, result.exit, result.stdout) == (RunStatus.OK, 0, b"done\n")
    assert result.artifacts == {"out/up.txt": b"QUIET"}


async def test_a_link_is_not_an_artifact(box: Bwrap) -> None:
    result = await box.run(
        RunSpec(("sh", "-c", "ln -s /etc/passwd a; mkfifo b; echo c > c"), artifacts=("a", "b", "c"))
    )

    assert result.artifacts == {"c": b"c\n"}


async def test_a_report_is_read_from_its_own_descriptor(box: Bwrap) -> None:
    script = "import os; os.write(int(os.environ['BOX_REPORT_FD']), b'said'); os._exit(3)"
    spec = RunSpec((sys.executable, "-c", script), binds=mounts.interpreter(), report=True)

    result = await box.run(spec)

    assert (result.report, result.status, result.exit) == (b"said", RunStatus.FAILED, 3)


ENDLESS = {
    "a program that waits": ("import time; time.sleep(60)", {"seconds": 0.5, "wall_factor": 90}, RunStatus.TIMEOUT),
    "one that ignores SIGTERM": (
        "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(60)",
        {"seconds": 0.5, "wall_factor": 90},
        RunStatus.TIMEOUT,
    ),
    "endless output": ("while True: print('x' * 1000)", {"seconds": 60, "output": MIB}, RunStatus.OUTPUT),
    "shared memory": (
        f"import mmap, time\nm = mmap.mmap(-1, {300 * MIB}); m.write(b'x' * {300 * MIB}); time.sleep(60)",
        {"seconds": 60, "memory": 100 * MIB},
        RunStatus.MEMORY,
    ),
    # It grows no further than 128: as root, in a box whose wall is down, an endless one would take the machine.
    "a fork bomb": (
        "import os, time\nfor _ in range(7):\n try: os.fork()\n except OSError: pass\ntime.sleep(60)",
        {"seconds": 60, "processes": 32},
        RunStatus.PROCESSES,
    ),
    "a full disk": (
        "import time\nf = open('f', 'wb', buffering=0)\ntry:\n while True: f.write(b'x' * 65536)\n"
        "except OSError: time.sleep(60)",
        {"seconds": 60, "scratch": 4 * MIB},
        RunStatus.DISK,
    ),
    "too many files": (
        "import time\nfor n in range(5000): open('f%d' % n, 'w').close()\ntime.sleep(60)",
        {"seconds": 60, "scratch_files": 500},
        RunStatus.DISK,
    ),
}


@pytest.mark.parametrize("name", ENDLESS)
async def test_an_endless_run_is_stopped_with_the_reason(box: Bwrap, name: str) -> None:
    script, limits, status = ENDLESS[name]

    result = await box.run(python(script, **limits))

    assert result.status is status
    assert result.exit is None


async def test_a_process_above_its_memory_limit_gets_an_error(box: Bwrap) -> None:
    result = await box.run(python(f"x = bytearray({300 * MIB})", data=100 * MIB))

    assert result.status is RunStatus.FAILED
    assert b"MemoryError" in result.stderr


async def test_a_sparse_terabyte_is_stopped(box: Bwrap) -> None:
    result = await box.run(python("import os; os.truncate(os.open('f', os.O_CREAT | os.O_RDWR), 1 << 40)"))

    assert result.status in (RunStatus.DISK, RunStatus.FAILED)


async def test_the_start_and_end_of_long_output_are_kept(box: Bwrap) -> None:
    result = await box.run(python("print('first'); print('x' * 3000000); print('last')", output=MIB))

    assert result.truncated
    assert result.stdout.startswith(b"first\n")
    assert result.stdout.endswith(b"last\n")
    assert len(result.stdout) < MIB + 100


async def test_a_missing_program_is_a_separate_outcome(box: Bwrap) -> None:
    assert (await box.run(RunSpec(("no-such-program",)))).status is RunStatus.NO_RUNNER


async def test_standard_input_is_empty_and_nothing_is_inherited(box: Bwrap, tmp_path: Path) -> None:
    secret = os.open(tmp_path, os.O_RDONLY)
    os.set_inheritable(secret, True)
    try:
        result = await box.run(
            python("import os, sys; print(sys.stdin.read() == '', sorted(os.listdir('/proc/self/fd')))")
        )
    finally:
        os.close(secret)

    assert result.stdout == b"True ['0', '1', '2', '3']\n", "3 is the listing itself"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / ".git").mkdir(parents=True)
    (root / ".git" / "config").write_text("token")
    (root / "src").mkdir()
    (root / "src" / "a.py").write_text("saved")
    (root / "src" / ".env").write_text("KEY=secret")
    (root / "outside").symlink_to(tmp_path / "victim.txt")
    (tmp_path / "victim.txt").write_text("precious")
    return root


async def test_a_workspace_is_visible_with_its_buffers_and_without_its_secrets(box: Bwrap, workspace: Path) -> None:
    before = sorted(str(path) for path in workspace.rglob("*"))
    script = (
        "cat src/a.py test.py; cat src/.env .git/config outside 2>/dev/null; echo new > src/a.py; rm -r .git; "
        "echo evil > outside; echo x > added"
    )
    spec = RunSpec(
        ("sh", "-c", script),
        files={"test.py": b" test"},
        overlay=Overlay(workspace, {"src/a.py": b"unsaved", "outside": b" buffer"}),
    )

    result = await box.run(spec)

    assert result.stdout == b"unsaved test buffer"
    assert sorted(str(path) for path in workspace.rglob("*")) == before
    assert (workspace / "src" / "a.py").read_text() == "saved"
    assert (workspace.parent / "victim.txt").read_text() == "precious"


@pytest.mark.parametrize("name", ["../up", "/etc/passwd", "", "a/../../b"])
async def test_files_stay_in_the_working_directory(box: Bwrap, name: str) -> None:
    with pytest.raises(ValueError, match="not a path below"):
        await box.run(RunSpec(("true",), files={name: b""}))


@pytest.mark.parametrize("path", ["/", "/home", "/run", str(Path.home())])
async def test_a_bind_of_a_whole_home_is_refused(box: Bwrap, path: str) -> None:
    with pytest.raises(ValueError, match="more than a run may see"):
        await box.run(RunSpec(("true",), binds=(Path(path),)))


def descendants() -> Iterator[str]:
    for child in children(os.getpid()):
        with contextlib.suppress(OSError):  # it ended while it was looked at
            yield Path(f"/proc/{child}/cmdline").read_bytes().decode("utf-8", "replace")


async def test_cancelling_leaves_no_process_and_no_files(box: Bwrap, sandbox: Sandbox) -> None:
    running = asyncio.create_task(box.run(python("import time; print('up', flush=True); time.sleep(60)")))
    while not any("bwrap" in line for line in descendants()):
        await asyncio.sleep(0)
    descriptors = len(list(Path("/proc/self/fd").iterdir()))

    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert not any("bwrap" in line for line in descendants())
    assert len(list(Path("/proc/self/fd").iterdir())) <= descriptors


async def test_many_runs_leave_no_processes_and_no_files(box: Bwrap, sandbox: Sandbox, workspace: Path) -> None:
    await box.run(RunSpec(("true",)))
    descriptors = len(list(Path("/proc/self/fd").iterdir()))

    for _ in range(20):
        await box.run(RunSpec(("true",), report=True, artifacts=("x",)))

    assert len(list(Path("/proc/self/fd").iterdir())) == descriptors
    assert not any("bwrap" in line for line in descendants())


async def test_a_sandbox_below_the_required_level_runs_nothing(tmp_path: Path) -> None:
    sandbox = Sandbox(IsolationLevel.FULL, tmp_path / "sandbox", backend="nowhere")  # as on a machine without any

    with pytest.raises(PolicyError, match="No code ran"):
        await sandbox.run(RunSpec(("true",)))

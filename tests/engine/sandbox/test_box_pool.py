"""Boxes that were built ahead: a run in one is a run in a new one, and none outlives its use."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest

from stet_ls.engine.sandbox.backends.bwrap import Bwrap
from stet_ls.engine.sandbox.box_pool import BoxPool, kind_of
from stet_ls.engine.sandbox.files import mounts
from stet_ls.engine.sandbox.processes.box_start import BoxStart
from stet_ls.engine.sandbox.processes.procfs import descendants
from stet_ls.engine.sandbox.spec import Limits, Overlay, RunResult, RunSpec, RunStatus

PYTHON = str(Path(sys.executable).resolve())
BINDS = mounts.interpreter(Path(PYTHON))


class Counting:
    """A backend that tells how its runs were begun."""

    def __init__(self, box: Bwrap) -> None:
        self._box = box
        self.cold = 0
        self.ahead = 0

    async def run(self, spec: RunSpec) -> RunResult:
        self.cold += 1
        return await self._box.run(spec)

    async def serve(self, spec: RunSpec, start: BoxStart) -> RunResult:
        self.ahead += 1
        return await self._box.serve(spec, start)


def script(text: str, **more: object) -> RunSpec:
    files = {"main.py": textwrap.dedent(text).encode()}
    return replace(RunSpec((PYTHON, "main.py"), files, BINDS, warm=("json",)), **more)  # type: ignore[arg-type]


async def second(pool: BoxPool, backend: Counting, spec: RunSpec) -> RunResult:
    """The result of a run that a waiting box served."""
    await pool.run(backend, script("", env=spec.env, limits=spec.limits, report=spec.report, warm=spec.warm))
    cold = backend.cold
    result = await pool.run(backend, spec)
    assert backend.cold == cold, "it ran cold"
    return result


@pytest.fixture
async def pool() -> BoxPool:
    return BoxPool(
        idle=600
    )  # no test waits for a box to leave, and none is to leave while a busy machine takes its time


SEEN = """
    import json, os, sys
    print(json.dumps({
        "argv": sys.argv, "name": __name__, "cwd": os.getcwd(), "path": sys.path[0], "stdin": sys.stdin.read(),
        "env": {k: v for k, v in os.environ.items() if k not in ("_", "SHLVL", "PWD", "OLDPWD")}, "uid": os.getuid(),
        "files": sorted(os.listdir(".")), "descriptors": sorted(os.listdir("/proc/self/fd"))[:3], "pids": os.getpid(),
        "mounts": [line.split()[1:4] for line in open("/proc/self/mounts")], "nofile": open("/proc/self/limits").read(),
        "seccomp": [l for l in open("/proc/self/status") if l.startswith(("Seccomp", "Cap", "NoNewPrivs"))],
        "many": len(os.listdir('/proc/self/fd')),
    }))
    sys.exit(3)
"""


async def test_a_pooled_run_sees_the_same_as_a_cold_run(box: Bwrap, pool: BoxPool) -> None:
    """The same walls, limits, variables, descriptors and files."""
    backend = Counting(box)
    spec = script(SEEN, files={"main.py": textwrap.dedent(SEEN).encode(), "deep/er/x": b"\0\xff"})

    warm, cold = await second(pool, backend, spec), await box.run(spec)

    assert (warm.status, warm.exit, warm.stderr) == (RunStatus.FAILED, 3, b"")
    assert warm.stdout == cold.stdout
    assert warm.isolation == cold.isolation
    await pool.close()


async def test_a_module_and_a_folder_run_as_in_a_cold_run(box: Bwrap, pool: BoxPool) -> None:
    backend = Counting(box)
    files = {
        "package/__main__.py": b"import sys, part; print(sys.argv[1:], sys.path[0], part.X)",
        "package/part.py": b"X = 1",
    }
    files["part.py"] = b"X = 2"
    for argv in (("package", "a", "-b"), ("-m", "package", "-x"), ("-I", "package")):
        spec = replace(script(""), argv=(PYTHON, *argv), files=files)
        await pool.run(backend, replace(spec, files={"package/__main__.py": b"", "part.py": b""}))
        before = backend.cold
        warm, cold = await pool.run(backend, spec), await box.run(spec)

        assert backend.cold == before
        assert (warm.stdout, warm.exit) == (cold.stdout, cold.exit), argv
    await pool.close()


async def test_no_state_of_a_run_reaches_the_next(box: Bwrap, pool: BoxPool) -> None:
    backend = Counting(box)
    leave = "import json; json.left = 1; open('/tmp/left', 'w'); open('left', 'w'); open('/dev/shm/left', 'w')"
    places = ("left", "/tmp/left", "/dev/shm/left")
    look = f"import json, os; print(hasattr(json, 'left'), [os.path.exists(p) for p in {places}])"

    await pool.run(backend, script(leave))
    await pool.run(backend, script(leave))
    result = await pool.run(backend, script(look))

    assert backend.cold == 1
    assert result.stdout == b"False [False, False, False]\n"
    await pool.close()


@pytest.mark.parametrize(
    ("text", "limits", "status"),
    [
        ("import time; time.sleep(60)", {"seconds": 1.0, "wall_factor": 60.0}, RunStatus.TIMEOUT),
        ("x = b'x' * 300_000_000\nimport time; time.sleep(20)", {"memory": 150_000_000}, RunStatus.MEMORY),
        ("while True: print('x' * 1000)", {"output": 100_000}, RunStatus.OUTPUT),
        ("import os; os.kill(os.getpid(), 9)", {}, RunStatus.KILLED),
    ],
)
async def test_limits_apply_to_pooled_runs(
    box: Bwrap, pool: BoxPool, text: str, limits: dict[str, float], status: RunStatus
) -> None:
    spec = script(text, limits=Limits(**limits))  # type: ignore[arg-type]

    result = await second(pool, Counting(box), spec)

    assert result.status is status
    await pool.close()


async def test_the_time_limit_starts_with_the_job(box: Bwrap, pool: BoxPool) -> None:
    """A box may wait for longer than its job may run."""
    spec = script("print('done')", limits=Limits(seconds=1.0, wall_factor=60.0))
    backend = Counting(box)
    await pool.run(backend, spec)
    await asyncio.sleep(1.3)

    result = await pool.run(backend, spec)

    assert (backend.cold, result.status, result.stdout) == (1, RunStatus.OK, b"done\n")
    await pool.close()


async def test_a_waiting_sandbox_returns_a_report(box: Bwrap, pool: BoxPool) -> None:
    text = "import os; os.write(int(os.environ['BOX_REPORT_FD']), b'said'); os._exit(0)"

    result = await second(pool, Counting(box), script(text, report=True))

    assert result.report == b"said"
    await pool.close()


async def test_a_script_that_was_compiled_ahead_runs_as_it_is(box: Bwrap, pool: BoxPool) -> None:
    """It has the place and the `__future__` that it would have cold; another script is not taken for it."""
    backend = Counting(box)
    text = "def f(x: int): pass\nprint(__file__, f.__annotations__)\n"
    spec = script("", files={"main.py": text.encode()}, program=text)
    other = replace(spec, files={"main.py": b"print('other')"})

    await pool.run(backend, spec)
    warm, cold = await pool.run(backend, spec), await box.run(spec)
    reported = await pool.run(backend, other)

    assert backend.cold == 1
    assert (warm.stdout, reported.stdout) == (cold.stdout, b"other\n")
    assert b"class 'int'" in warm.stdout
    await pool.close()


async def test_large_files_are_sent_through_the_pipe(box: Bwrap, pool: BoxPool) -> None:
    data = os.urandom(2_000_000)
    text = "import hashlib; print(hashlib.sha256(open('data', 'rb').read()).hexdigest())"
    spec = script("", files={"main.py": text.encode(), "data": data})

    warm, cold = await second(pool, Counting(box), spec), await box.run(spec)

    assert warm.stdout == cold.stdout
    await pool.close()


async def test_a_sandbox_of_a_changed_environment_is_discarded(box: Bwrap, pool: BoxPool, tmp_path: Path) -> None:
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", tmp_path / "env"], check=True)
    python = tmp_path / "env" / "bin" / "python"
    site = next((tmp_path / "env").glob("lib/python3*/site-packages"))
    spec = replace(
        script("import late; print(late.X)"), argv=(str(python), "main.py"), binds=(tmp_path / "env", *BINDS)
    )
    backend = Counting(box)
    await pool.run(backend, spec)
    (site / "late.py").write_text("X = 1")

    result = await pool.run(backend, spec)

    assert (backend.cold, result.stdout) == (2, b"1\n")
    await pool.close()


async def test_an_idle_sandbox_is_stopped(box: Bwrap) -> None:
    pool = BoxPool(idle=0.2)
    before = set(descendants(os.getpid()))
    await pool.run(Counting(box), script(""))
    assert pool.waiting() == 1

    async with asyncio.timeout(60):
        while pool.waiting() or set(descendants(os.getpid())) - before:
            await asyncio.sleep(0.02)


async def test_the_number_of_sandboxes_is_limited(box: Bwrap, pool: BoxPool) -> None:
    backend = Counting(box)
    for number in range(7):
        await pool.run(backend, script("", env={"N": str(number)}))

    assert pool.waiting() == 4
    await pool.close()
    assert pool.waiting() == 0


async def test_nothing_is_built_for_a_run_that_is_the_only_one_of_its_kind(box: Bwrap) -> None:
    pool, backend = BoxPool(idle=600, after=2), Counting(box)
    for number in range(60):
        pool._is_frequent((number,))
    assert len(pool._ran) == 50
    waiting = []
    for name in ("a", "b", "a", "a"):
        await pool.run(backend, script("", env={"N": name}))
        waiting.append(pool.waiting())

    assert (waiting, backend.cold) == ([0, 0, 1, 1], 3)
    await pool.close()


async def test_many_runs_leave_no_processes_and_no_files(box: Bwrap, pool: BoxPool) -> None:
    backend = Counting(box)
    await pool.run(backend, script(""))
    await pool.close()
    descriptors, processes = len(list(Path("/proc/self/fd").iterdir())), set(descendants(os.getpid()))

    for _ in range(3):
        await asyncio.gather(*(pool.run(backend, script("")) for _ in range(4)))
    await pool.close()

    assert len(list(Path("/proc/self/fd").iterdir())) == descriptors
    assert set(descendants(os.getpid())) <= processes


async def test_a_cancelled_run_ends_its_sandbox(box: Bwrap, pool: BoxPool) -> None:
    backend = Counting(box)
    await pool.run(backend, script(""))
    before = set(descendants(os.getpid()))
    task = asyncio.create_task(pool.run(backend, script("import time; time.sleep(60)")))
    async with asyncio.timeout(60):
        while pool.waiting():
            await asyncio.sleep(0.01)
    await asyncio.sleep(0.3)  # somewhere in the run, or before it: there is no moment at which anything may be left
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await pool.close()

    assert not set(descendants(os.getpid())) - before
    assert backend.cold == 1


async def test_a_sandbox_that_died_while_waiting_is_replaced(box: Bwrap, pool: BoxPool) -> None:
    backend = Counting(box)
    before = set(descendants(os.getpid()))
    await pool.run(backend, script(""))
    ((waiting,),) = pool._waiting.values()
    async with asyncio.timeout(60):
        while not waiting.task.done():
            for process in set(descendants(os.getpid())) - before:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            await asyncio.sleep(0.05)

    result = await pool.run(backend, script("print(1)"))

    assert (backend.cold, result.stdout) == (2, b"1\n")
    await pool.close()


async def test_sandboxes_end_with_a_killed_server(box: Bwrap, probes: Path) -> None:
    server = textwrap.dedent("""
        import asyncio, os, sys
        from pathlib import Path
        from stet_ls.engine.sandbox.files import mounts
        from stet_ls.engine.sandbox.isolation import IsolationLevel
        from stet_ls.engine.sandbox.processes.procfs import descendants
        from stet_ls.engine.sandbox.sandbox import Sandbox
        from stet_ls.engine.sandbox.spec import RunSpec
        async def main():
            python = Path(sys.executable).resolve()
            spec = RunSpec((str(python), "m.py"), {"m.py": b""}, mounts.interpreter(python), warm=("json",))
            sandbox = Sandbox(IsolationLevel.PARTIAL, Path(sys.argv[1]))
            await sandbox.run(spec)
            await sandbox.run(spec)
            # Two boxes, each of bwrap, the first process inside, and Python: then none is being built any more.
            while len(found := list(descendants(os.getpid()))) < 2 * 3:
                await asyncio.sleep(0.02)
            print(*found, flush=True)
            await asyncio.sleep(60)
        asyncio.run(main())
    """)
    child = subprocess.Popen([sys.executable, "-c", server, str(probes)], stdout=subprocess.PIPE)
    assert child.stdout
    boxes = [int(number) for number in child.stdout.readline().split()]
    child.kill()
    child.communicate()

    assert boxes
    async with asyncio.timeout(60):
        while any(_alive(process) for process in boxes):
            await asyncio.sleep(0.02)


def _alive(process: int) -> bool:
    try:
        return b"box_worker" in Path(f"/proc/{process}/cmdline").read_bytes() or Path(f"/proc/{process}/exe").exists()
    except OSError:
        return False


@pytest.mark.parametrize(
    "change",
    [
        {"warm": ()},
        {"argv": ("sh", "-c", "true")},
        {"argv": (PYTHON, "-c", "pass")},
        {"argv": (PYTHON, "-X", "dev", "main.py")},
        {"argv": (PYTHON,)},
        {"artifacts": ("out",)},
        {"overlay": Overlay(Path("/w"))},
    ],
)
def test_runs_that_a_waiting_sandbox_cannot_do_are_cold(change: dict[str, object]) -> None:
    assert kind_of(script("")) is not None
    assert kind_of(replace(script(""), **change)) is None  # type: ignore[arg-type]


@pytest.mark.parametrize("warm", [(), ("json",)], ids=["cold", "waiting"])
async def test_a_run_may_be_cancelled_at_any_moment(box: Bwrap, pool: BoxPool, warm: tuple[str, ...]) -> None:
    """Also between the start of a process and the connection of its pipes, where asyncio would wait for ever."""
    before = set(descendants(os.getpid()))
    spec = script("import time; time.sleep(60)", warm=warm)
    async with asyncio.timeout(100):
        for turn in range(12):
            task = asyncio.create_task(pool.run(Counting(box), spec))
            for _ in range(3 * turn):
                await asyncio.sleep(0.001)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        await pool.close()

    assert not set(descendants(os.getpid())) - before

"""What the walls cost, what a pool of boxes saves, and what is left behind. Bare runs are measured in between."""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Iterator
from pathlib import Path

from bench.row import Row

from stet_ls.engine.sandbox.environments.environment_store import EnvironmentStore
from stet_ls.engine.sandbox.environments.interpreter_detection import Detector
from stet_ls.engine.sandbox.environments.wheel_install import PackagesError
from stet_ls.engine.sandbox.files import mounts
from stet_ls.engine.sandbox.isolation import IsolationLevel
from stet_ls.engine.sandbox.processes.procfs import descendants
from stet_ls.engine.sandbox.sandbox import Sandbox
from stet_ls.engine.sandbox.spec import Limits, Overlay, RunSpec, RunStatus

_PYTHON = (sys.executable, "-c", "pass")
_TEST = b"def test_one():\n    assert 1 + 1 == 2\n"


def rows() -> Iterator[Row]:
    """One event loop for all, as in the server."""
    with tempfile.TemporaryDirectory(prefix="stet-bench-") as folder:
        yield from asyncio.run(_all(Path(folder)))


async def _all(folder: Path) -> list[Row]:
    sandbox = Sandbox(IsolationLevel.PARTIAL, folder / "sandbox")
    candidates = await sandbox.candidates()
    found = [row for candidate in candidates if candidate.backend for row in [await _overhead(candidate.backend)]]
    for rows_ in (_pytest, _overlay, _left, _cancel, _environments):
        found += [row async for row in rows_(sandbox, folder)]
    await sandbox.close()
    return found


async def _seconds(what: Awaitable[object]) -> float:
    started = time.perf_counter()
    await what
    return time.perf_counter() - started


async def _bare() -> None:
    process = await asyncio.create_subprocess_exec(
        *_PYTHON, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    await process.communicate()


async def _overhead(backend: object) -> Row:
    spec = RunSpec(_PYTHON, binds=mounts.interpreter())
    bare, sandboxed = [], []
    for _ in range(40):
        bare.append(await _seconds(_bare()))
        sandboxed.append(await _seconds(backend.run(spec)))  # type: ignore[attr-defined]
    over = (statistics.median(sandboxed) - statistics.median(bare)) * 1000
    report = backend.report  # type: ignore[attr-defined]
    name = f"{report.backend} {report.version}: python -c pass over bare"
    least = (min(sandboxed) - min(bare)) * 1000
    return Row(name, f"{over:+.0f} ms (bare {statistics.median(bare) * 1000:.0f}, least {least:+.0f})", "<= 25 ms")


async def _pytest(sandbox: Sandbox, _: Path) -> AsyncIterator[Row]:
    interpreter = await Detector(sandbox).prove(Path(sys.executable), ["pytest"])
    cold = RunSpec(
        (str(interpreter.path), "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_one.py"),
        files={"test_one.py": _TEST},
        binds=interpreter.binds,
        env={"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )
    warm = RunSpec(cold.argv, cold.files, cold.binds, env=cold.env, warm=("pytest", "_pytest.assertion.rewrite"))
    await sandbox.run(warm)
    times: dict[str, list[float]] = {"cold": [], "warm": []}
    for _turn in range(15):
        await asyncio.sleep(1)  # the box for the next run gets ready
        times["warm"].append(await _seconds(sandbox.run(warm)))
        await asyncio.sleep(1)
        times["cold"].append(await _seconds(sandbox.run(cold)))
    for name, goal in (("warm", 200), ("cold", 700)):
        median = statistics.median(times[name]) * 1000
        yield Row(
            f"pytest of one file, {name}", f"{median:.0f} ms (worst {max(times[name]) * 1000:.0f})", f"<= {goal} ms"
        )


async def _overlay(sandbox: Sandbox, folder: Path) -> AsyncIterator[Row]:
    root = folder / "workspace"
    for number in range(5_000):
        file = root / f"package{number // 100}" / f"module{number}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("x" * 6_000, encoding="ascii")
    for candidate in await sandbox.candidates():
        backend = candidate.backend
        if backend is None or not getattr(backend, "overlays", False):
            continue
        without, over = RunSpec(("true",)), RunSpec(("true",), overlay=Overlay(root))
        pairs = [(await _seconds(backend.run(without)), await _seconds(backend.run(over))) for _ in range(15)]
        plain, laid = (statistics.median(each) * 1000 for each in zip(*pairs, strict=True))
        report = candidate.report
        name = f"{report.backend} {report.version}: 5,000 files, as they are"
        yield Row(name, f"{laid - plain:+.0f} ms (whole run {laid:.0f})", "<= 60 ms with 0.11")


async def _left(sandbox: Sandbox, folder: Path) -> AsyncIterator[Row]:
    spec = RunSpec(("sh", "-c", "echo x > f; sleep 0.01 & exit 0"), warm=())
    before = _things(folder)
    for _ in range(50):
        await asyncio.gather(*(sandbox.run(spec) for _ in range(4)))
    left = {name: after - before[name] for name, after in _things(folder).items()}
    yield Row("left by 200 runs", ", ".join(f"{count} {name}" for name, count in left.items()), "nothing")


def _things(folder: Path) -> dict[str, int]:
    return {
        "processes": len(list(descendants(os.getpid()))),
        "descriptors": len(list(Path("/proc/self/fd").iterdir())),
        "mounts": len(Path("/proc/self/mounts").read_bytes().splitlines()),
        "files": sum(len(names) for _, _, names in os.walk(folder / "sandbox")),
    }


async def _cancel(sandbox: Sandbox, _: Path) -> AsyncIterator[Row]:
    loop = "import os, time\nfor _ in range(8):\n if os.fork() == 0: break\ntime.sleep(60)"
    spec = RunSpec((sys.executable, "-I", "-S", "-c", loop), binds=mounts.interpreter(), limits=Limits(seconds=60))
    times = []
    for _turn in range(10):
        before = set(descendants(os.getpid()))
        task = asyncio.create_task(sandbox.run(spec))
        while len(set(descendants(os.getpid())) - before) < 11:  # bwrap twice, and nine of ours
            await asyncio.sleep(0.01)
        started = time.perf_counter()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        while set(descendants(os.getpid())) - before:
            await asyncio.sleep(0.001)
        times.append(time.perf_counter() - started)
    worst = f"{statistics.median(times) * 1000:.0f} ms (worst {max(times) * 1000:.0f})"
    yield Row("cancel -> nothing in the process table", worst, "<= 100 ms")


async def _environments(sandbox: Sandbox, folder: Path) -> AsyncIterator[Row]:
    interpreter = await Detector(sandbox).prove(Path(sys.executable).resolve())
    store = EnvironmentStore(folder / "environments")
    requirements = ["attrs", "iniconfig", "pluggy"]

    async def use(runner: str) -> None:
        async with store.use(interpreter, requirements, runner=runner) as environment:
            result = await sandbox.run(
                RunSpec((str(environment.path), "-c", "import attr, pluggy"), binds=environment.binds)
            )
            assert result.status is RunStatus.OK, result.stderr

    try:
        first = await _seconds(use("1"))
    except PackagesError as error:
        yield Row("an environment of three packages", f"not measured: {error}")
        return
    again, kept = await _seconds(use("2")), await _seconds(use("2"))
    times = f"{first * 1000:.0f} / {again * 1000:.0f} / {kept * 1000:.0f} ms"
    yield Row("environment and a run in it: index / uv's cache / kept", times)

"""What a run waits for a core is not its own time: a busy machine ends none that would have come to its end.

The machine is made busy here: programs that never rest share one core with the run.
"""

from __future__ import annotations

import contextlib
import io
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO

import pytest

from stet_ls.engine.diagnosis.diagnose import diagnose
from stet_ls.engine.diagnosis.diagnosis import Cause, CodeFacts
from stet_ls.engine.errors import PolicyError
from stet_ls.engine.runners import box_steps, report_channel
from stet_ls.engine.runners.box_steps import BoxStep
from stet_ls.engine.runners.plan import TestPlan
from stet_ls.engine.runners.report import SuiteOutcome
from stet_ls.engine.runners.run_tests import run_tests
from stet_ls.engine.sandbox.backends.backend import Backend
from stet_ls.engine.sandbox.backends.bwrap import Bwrap
from stet_ls.engine.sandbox.files import mounts
from stet_ls.engine.sandbox.isolation import IsolationLevel, IsolationReport
from stet_ls.engine.sandbox.processes import procfs
from stet_ls.engine.sandbox.processes.procfs import Clock, children
from stet_ls.engine.sandbox.sandbox import Sandbox
from stet_ls.engine.sandbox.spec import Limits, RunResult, RunSpec, RunStatus

ENDLESS = "while True: pass"
COMPUTES = "import time\nwhile time.process_time() < 0.6: pass\nprint('done')"
"""On a core that it shares with five others it takes six times as long."""
LIMITS = Limits(seconds=1.8, wall_factor=30.0)
linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells of its processes in /proc")


@pytest.fixture
async def box(sandbox: Sandbox) -> Backend:
    """The best of this machine: the watch is the same over all of them."""
    try:
        return await sandbox.allow()
    except PolicyError as none:
        pytest.skip(str(none))


@pytest.fixture
def crowded() -> Iterator[None]:
    """One core for this process and its children, and for five others that compute without end."""
    if not hasattr(os, "sched_setaffinity"):
        pytest.skip("this system cannot bind processes to a core")
    mine = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(mine)})
    # In one session they might share what is one program's part of the core.
    others = [subprocess.Popen((sys.executable, "-ISc", ENDLESS), start_new_session=True) for _ in range(5)]
    yield
    for other in others:
        other.kill()
        other.wait()
    os.sched_setaffinity(0, mine)


def python(script: str, limits: Limits) -> RunSpec:
    return RunSpec((sys.executable, "-I", "-S", "-c", script), binds=mounts.interpreter(), limits=limits)


@pytest.mark.usefixtures("crowded")
async def test_a_run_that_waits_for_a_core_finishes(box: Backend) -> None:
    result = await box.run(python(COMPUTES, LIMITS))

    assert (result.status, result.stdout) == (RunStatus.OK, b"done\n")
    assert result.waited > LIMITS.seconds, "the machine was not busy enough for this to show anything"


@pytest.mark.usefixtures("crowded")
@pytest.mark.parametrize(
    ("script", "words"),
    [(ENDLESS, "more waiting for a core"), ("import time; time.sleep(60)", "without doing anything")],
)
async def test_an_endless_run_is_stopped_under_load_too(box: Backend, script: str, words: str) -> None:
    result = await box.run(python(script, LIMITS))

    assert result.status is RunStatus.TIMEOUT
    assert words in result.lasted
    assert result.computed is not None
    assert result.computed < 2 * LIMITS.seconds


@pytest.mark.usefixtures("crowded")
async def test_waiting_for_a_run_without_processor_time_is_limited(box: Backend) -> None:
    """And it is not said of the code that it does not end."""
    files = {"test_a.py": f"def test_a():\n    {ENDLESS}\n".encode()}

    report = await run_tests(box, TestPlan("python", tuple(files), files, limits=Limits(4.0, wall_factor=1.0)))

    assert report.run is not None
    assert (report.run.status, report.outcome) == (RunStatus.STARVED, SuiteOutcome.LIMIT)
    assert "too busy" in report.detail
    assert {each.cause for each in diagnose(report, CodeFacts())} == {Cause.ENVIRONMENT}


async def test_a_run_that_competes_with_itself_does_not_stop_the_clock(box: Backend) -> None:
    """Twenty processes wait for the cores that they hold themselves."""
    script = f"import os\nfor _ in range(19):\n if not os.fork(): break\n{ENDLESS}"
    limits = Limits(seconds=1.0, wall_factor=60.0, processes=40)

    assert (await box.run(python(script, limits))).status is RunStatus.TIMEOUT


@pytest.mark.usefixtures("crowded")
@pytest.mark.parametrize("yields", ["os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))", "os.nice(19)"])
async def test_a_run_that_lowers_its_priority_gets_no_extra_time(box: Backend, yields: str) -> None:
    script = f"import os, time\nif os.fork(): time.sleep(60)\n{yields}\n{ENDLESS}"
    limits = Limits(seconds=5.0, wall_factor=6.0)  # the box is built meanwhile, and that may wait for the core

    result = await box.run(python(script, limits))

    assert result.status is RunStatus.TIMEOUT
    assert result.waited < limits.seconds


@contextlib.contextmanager
def running(script: str) -> Iterator[subprocess.Popen[str]]:
    """A program of its own, which is ended after the test."""
    program = subprocess.Popen((sys.executable, "-ISc", script), stdout=subprocess.PIPE, text=True)
    try:
        yield program
    finally:
        program.kill()
        program.communicate()


@linux
def test_short_lived_children_count_as_computing() -> None:
    script = """
import os, time
while sum(os.times()[2:4]) < 0.5:
    if not os.fork():
        while time.process_time() < 0.01: pass
        os._exit(0)
    os.wait()
print("done", flush=True)
time.sleep(60)
"""
    with running(script) as program:
        assert program.stdout
        clock = Clock(program.pid)
        program.stdout.readline()
        clock.read()

        assert clock.computed is not None
        assert 0.45 < clock.computed < 1.5


@linux
def test_processor_time_of_a_child_counts_once() -> None:
    script = """
import os, time
for _ in range(2):
    if not os.fork():
        while time.process_time() < 0.5: pass
        os._exit(0)
    os.wait()
print(sum(os.times()[:4]), flush=True)
time.sleep(60)
"""
    with running(script) as program:
        assert program.stdout
        clock = Clock(program.pid)
        while not select.select([program.stdout], [], [], 0.01)[0]:
            clock.read()
        clock.read()

        assert clock.computed == pytest.approx(float(program.stdout.readline()), abs=0.2)


@linux
def test_a_finished_thread_does_not_hide_another() -> None:
    script = """
import subprocess, threading, time
begun = time.monotonic()
for at in range(200):
    threading.Thread(target=lambda: time.sleep(max(0, begun + 1 + at / 150 - time.monotonic()))).start()
threading.Thread(target=lambda: (subprocess.Popen(["sleep", "60"]), print("begun", flush=True), time.sleep(60))).start()
"""
    with running(script) as program:
        assert program.stdout
        program.stdout.readline()
        seen = [children(program.pid)]
        while len(list(Path(f"/proc/{program.pid}/task").iterdir())) > 2:
            seen.append(children(program.pid))
        for child in seen[0]:
            os.kill(child, signal.SIGKILL)

    assert len(seen[0]) == 1
    assert seen == [seen[0]] * len(seen)


@linux
def test_a_frequently_read_clock_samples_at_intervals() -> None:
    with running("import time; print(flush=True); time.sleep(60)") as program:
        assert program.stdout
        program.stdout.readline()  # on its start it may wait for a core, and time that it waited is looked at, too
        clock = Clock(program.pid)
        looks, asked = [0.0], 0
        while not clock.is_late(1.0):
            asked += 1
            looks += [clock.own] if clock.own > looks[-1] + 0.001 else []

    assert 2 <= len(looks) <= 10
    assert asked > 100


@linux
@pytest.mark.parametrize("times", [True, False])
def test_a_kernel_without_scheduling_statistics_is_handled(monkeypatch: pytest.MonkeyPatch, times: bool) -> None:
    """Without its statistics it tells of each thread that it neither computed nor waited."""

    def opened(name: str, mode: str) -> IO[bytes]:
        assert mode == "rb"
        words = Path(name).read_bytes().split()
        if name.endswith("schedstat"):
            words = [b"0"] * 3
        elif name.endswith("stat") and not times:
            words[13:17] = [b"0"] * 4
        return io.BytesIO(b" ".join(words))

    monkeypatch.setattr(procfs, "open", opened, raising=False)
    with running(ENDLESS) as program:
        clock = Clock(program.pid)
        while not clock.is_late(1.0):
            time.sleep(0.01)

    assert clock.waited == 0
    assert (clock.computed is not None) == times


@pytest.mark.usefixtures("crowded")
async def test_each_step_of_a_run_has_its_clock(box: Backend) -> None:
    if not isinstance(box, Bwrap):
        pytest.skip("a box without a view of its own shows its programs no /proc: steps are timed by the wall there")
    steps = [
        BoxStep("computes", (sys.executable, "-I", "-S", "-c", COMPUTES), 1.8),
        BoxStep("waits", (sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)"), 0.5),
        BoxStep("closes and waits", ("sh", "-c", "exec >&- 2>&- <&-; sleep 60"), 0.5),
    ]
    nonce = report_channel.new_nonce()
    spec = box_steps.spec(nonce, steps, files={}, binds=mounts.interpreter(), env={}, limits=Limits(seconds=20.0))

    result = await box.run(replace(spec, report=True))

    said = box_steps.outputs(report_channel.events(result.report, nonce))
    assert [said[step.name].why for step in steps] == ["", "timeout", "timeout"]
    assert said["computes"].code == 0


def test_the_time_of_a_run_is_described() -> None:
    def lasted(seconds: float, waited: float, computed: float | None) -> str:
        here = IsolationReport("", "", IsolationLevel.NONE)
        return RunResult(RunStatus.TIMEOUT, here, seconds=seconds, waited=waited, computed=computed).lasted

    assert lasted(10.0, 0.0, 9.9) == "10 s"
    assert lasted(10.0, 0.0, None) == "10 s"
    assert lasted(10.0, 0.2, 0.1) == "10 s without doing anything"
    assert lasted(48.0, 38.0, 9.5) == "10 s (38 more waiting for a core)"


@pytest.mark.parametrize(("left", "wall"), [(1000.0, 50.0), (30.0, 30.0), (10.0, 15.0), (2.0, 3.0), (-1.0, 1.5)])
def test_the_limits_of_a_run_follow_the_remaining_time(left: float, wall: float) -> None:
    limits = Limits(seconds=10.0, wall_factor=5.0).within(left)

    assert (limits.seconds, limits.wall) == (10.0, wall)

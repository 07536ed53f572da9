"""What a run waits for a core is not its own time: a busy machine ends none that would have come to its end.

The machine is made busy here: programs that never rest share one core with the run.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace

import pytest

from stet_ls.engine.diagnosis.diagnose import diagnose
from stet_ls.engine.diagnosis.diagnosis import About, Cause
from stet_ls.engine.errors import PolicyError
from stet_ls.engine.sandbox import mounts
from stet_ls.engine.sandbox.backend import Backend
from stet_ls.engine.sandbox.bwrap import Bwrap
from stet_ls.engine.sandbox.isolation import IsolationReport, Level
from stet_ls.engine.sandbox.runners import channel, relay
from stet_ls.engine.sandbox.runners.plan import TestPlan
from stet_ls.engine.sandbox.runners.relay import Step
from stet_ls.engine.sandbox.runners.report import Outcome
from stet_ls.engine.sandbox.runners.run import run_tests
from stet_ls.engine.sandbox.sandbox import Sandbox
from stet_ls.engine.sandbox.spec import Limits, RunResult, RunSpec, Status

ENDLESS = "while True: pass"
COMPUTES = "import time\nwhile time.process_time() < 0.6: pass\nprint('done')"
"""On a core that it shares with five others it takes six times as long."""
LIMITS = Limits(seconds=1.8, patience=30.0)


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
async def test_what_waits_for_a_core_comes_to_its_end(box: Backend) -> None:
    result = await box.run(python(COMPUTES, LIMITS))

    assert (result.status, result.stdout) == (Status.OK, b"done\n")
    assert result.waited > LIMITS.seconds, "the machine was not busy enough for this to show anything"


@pytest.mark.usefixtures("crowded")
@pytest.mark.parametrize(
    ("script", "words"),
    [(ENDLESS, "more waiting for a core"), ("import time; time.sleep(60)", "without doing anything")],
)
async def test_what_knows_no_end_is_ended_on_a_busy_machine_too(box: Backend, script: str, words: str) -> None:
    result = await box.run(python(script, LIMITS))

    assert result.status is Status.TIMEOUT
    assert words in result.lasted
    assert result.computed is not None
    assert result.computed < 2 * LIMITS.seconds


@pytest.mark.usefixtures("crowded")
async def test_nobody_waits_for_ever_for_what_gets_no_core(box: Backend) -> None:
    """And it is not said of the code that it does not end."""
    files = {"test_a.py": f"def test_a():\n    {ENDLESS}\n".encode()}

    report = await run_tests(box, TestPlan("python", tuple(files), files, limits=Limits(4.0, patience=1.0)))

    assert report.run is not None
    assert (report.run.status, report.outcome) == (Status.STARVED, Outcome.LIMIT)
    assert "too busy" in report.detail
    assert {each.cause for each in diagnose(report, About("python"))} == {Cause.ENVIRONMENT}


async def test_who_stands_in_their_own_way_does_not_stop_the_clock(box: Backend) -> None:
    """Twenty processes wait for the cores that they hold themselves."""
    script = f"import os\nfor _ in range(19):\n if not os.fork(): break\n{ENDLESS}"
    limits = Limits(seconds=1.0, patience=60.0, processes=40)

    assert (await box.run(python(script, limits))).status is Status.TIMEOUT


@pytest.mark.usefixtures("crowded")
async def test_the_steps_of_a_run_have_such_a_clock_too(box: Backend) -> None:
    if not isinstance(box, Bwrap):
        pytest.skip("a box without a view of its own shows its programs no /proc: steps are timed by the wall there")
    steps = [
        Step("computes", (sys.executable, "-I", "-S", "-c", COMPUTES), 1.8),
        Step("waits", (sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)"), 0.5),
        Step("closes and waits", ("sh", "-c", "exec >&- 2>&- <&-; sleep 60"), 0.5),
    ]
    nonce = channel.new_nonce()
    spec = relay.spec(nonce, steps, files={}, binds=mounts.interpreter(), env={}, limits=Limits(seconds=20.0))

    result = await box.run(replace(spec, report=True))

    said = relay.said(channel.events(result.report, nonce))
    assert [said[step.name].why for step in steps] == ["", "timeout", "timeout"]
    assert said["computes"].code == 0


def test_the_time_of_a_run_in_words() -> None:
    def lasted(seconds: float, waited: float, computed: float | None) -> str:
        here = IsolationReport("", "", Level.NONE)
        return RunResult(Status.TIMEOUT, here, seconds=seconds, waited=waited, computed=computed).lasted

    assert lasted(10.0, 0.0, 9.9) == "10 s"
    assert lasted(10.0, 0.0, None) == "10 s"
    assert lasted(10.0, 0.2, 0.1) == "10 s without doing anything"
    assert lasted(48.0, 38.0, 9.5) == "10 s (38 more waiting for a core)"


@pytest.mark.parametrize(("left", "wall"), [(1000.0, 50.0), (30.0, 30.0), (2.0, 15.0), (-1.0, 15.0)])
def test_a_run_gets_its_own_time_whoever_waits(left: float, wall: float) -> None:
    limits = Limits(seconds=10.0, patience=5.0).within(left)

    assert (limits.seconds, limits.wall) == (10.0, wall)

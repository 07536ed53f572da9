"""Calls wait for their turn at an endpoint: so many at once, the first come first, seen, and free to leave."""

from __future__ import annotations

import asyncio
import re
import threading
from pathlib import Path

import pytest
from support.engine import Bench, code_reply
from support.servers.scripted import Reply, ScriptedModel

from stet_ls.engine.api.budget import Budget
from stet_ls.engine.api.events import Event, Stage, ignore
from stet_ls.engine.api.plan import TaskOptions, TaskPriority
from stet_ls.engine.api.request import Workspace
from stet_ls.engine.model.request_queue import RequestQueue
from stet_ls.engine.settings.schema import Settings

CODE = "def f(a):$0\n    return a\n"
BETTER = code_reply("def f(a):\n    result = a\n    return result\n")


async def test_jobs_wait_in_order_and_may_leave_the_queue(scripted: ScriptedModel, stet_home: Path) -> None:
    scripted.default = Reply(BETTER, first_delay=60)
    async with Bench(scripted, Settings(jobs_at_once=1)) as bench:
        first = asyncio.create_task(bench.run("refactor", CODE))
        await asyncio.to_thread(scripted.wait_request, 1, 30)
        others = [asyncio.create_task(bench.run("refactor", CODE)) for _ in range(3)]
        while len(queued(bench)) < 3:
            await asyncio.sleep(0)
        assert queued(bench) == ["1 ahead", "2 ahead", "3 ahead"]
        assert len(scripted.requests) == 1

        others[0].cancel()
        scripted.default = Reply(BETTER)
        first.cancel()
        answers = await asyncio.gather(first, *others, return_exceptions=True)

    assert [type(answer) for answer in answers[:2]] == [asyncio.CancelledError] * 2
    assert all(not isinstance(answer, BaseException) and answer.success for answer in answers[2:])
    assert len(scripted.requests) == 3


async def test_the_queue_limits_concurrency_and_is_first_in_first_out(scripted: ScriptedModel, stet_home: Path) -> None:
    gate = threading.Event()
    scripted.default = Reply(BETTER, hold=gate)
    async with Bench(scripted, Settings(jobs_at_once=2)) as bench:
        jobs = []
        for number in range(6):
            jobs.append(asyncio.create_task(bench.run("refactor", CODE, instruction=f"wish {number}")))
            while sum(bench.engine.queue) <= number:
                await asyncio.sleep(0)
        await asyncio.to_thread(scripted.wait_request, 2, 30)
        assert bench.engine.queue == (2, 4)
        assert len(scripted.requests) == 2

        gate.set()
        answers = await asyncio.gather(*jobs)
        assert bench.engine.queue == (0, 0)

    assert all(answer.success for answer in answers)
    instructions = [re.findall(r"wish (\d)", request.prompt)[0] for request in scripted.requests]
    # Of two that are on their way at a time the second may be there first.
    assert all(abs(int(instruction) - at) <= 1 for at, instruction in enumerate(instructions)), instructions


async def test_calls_of_a_task_with_a_higher_priority_go_first(
    scripted: ScriptedModel, stet_home: Path, tmp_path: Path
) -> None:
    gate = threading.Event()
    scripted.default = Reply("no plan", hold=gate)
    (tmp_path / "a.py").write_text(CODE.replace("$0", ""))
    asked = {"path": tmp_path / "a.py", "workspace": Workspace((tmp_path,))}
    async with Bench(scripted, Settings(jobs_at_once=1)) as bench:
        jobs = []
        for at, priority in enumerate((TaskPriority.NORMAL, TaskPriority.LOW, None, TaskPriority.HIGH)):
            options = TaskOptions(priority=priority)
            words = f"raise {priority or 'nothing'} in two steps, and log it"
            jobs.append(asyncio.create_task(bench.run("task", CODE, instruction=words, task=options, **asked)))
            while sum(bench.engine.queue) <= at:
                await asyncio.sleep(0)
        await asyncio.to_thread(scripted.wait_request, 1, 30)
        gate.set()
        await asyncio.gather(*jobs)
    order = list(dict.fromkeys(re.findall(r"raise (\w+)", request.prompt)[0] for request in scripted.requests))
    assert order == ["normal", "high", "nothing", "low"]


async def test_a_job_that_needs_no_model_does_not_wait(scripted: ScriptedModel, stet_home: Path) -> None:
    scripted.default = Reply(BETTER, hold=threading.Event())
    async with Bench(scripted, Settings(jobs_at_once=1)) as bench:
        busy = [asyncio.create_task(bench.run("refactor", CODE)) for _ in range(2)]
        while bench.engine.queue != (1, 1):
            await asyncio.sleep(0)
        bench.events.clear()

        answer = await bench.run("analyze", CODE, budget=Budget.QUICK)

        assert answer.success
        assert queued(bench) == []
        assert bench.engine.queue == (1, 1), "the others wait still"
        for job in busy:
            job.cancel()
        await asyncio.gather(*busy, return_exceptions=True)


async def test_queues_of_endpoints_are_independent(scripted: ScriptedModel, stet_home: Path) -> None:
    scripted.default = Reply(BETTER, hold=threading.Event())
    with ScriptedModel() as other:
        other.default = Reply(BETTER)
        async with Bench(scripted, Settings(jobs_at_once=1)) as bench:
            lines = bench.engine._lines
            busy = asyncio.create_task(bench.run("refactor", CODE))
            while lines.length != (1, 0):
                await asyncio.sleep(0)
            async with lines.at(other.base_url).turn(bench.events.append):
                assert lines.length == (2, 0)
            busy.cancel()
            await asyncio.gather(busy, return_exceptions=True)


@pytest.mark.parametrize("step", range(12))
async def test_a_turn_is_not_lost_if_its_owner_is_cancelled(step: int) -> None:
    """Also not in the very step in which it is given."""
    line = RequestQueue(1)
    served: list[int] = []

    async def call(number: int) -> None:
        async with line.turn(ignore):
            await asyncio.sleep(0)
            served.append(number)

    tasks = [asyncio.create_task(call(number)) for number in range(4)]
    for _ in range(step):
        await asyncio.sleep(0)
    tasks[1].cancel()
    await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 30)

    assert served == [number for number in range(4) if not tasks[number].cancelled()]
    assert line.length == (0, 0)


async def test_a_newcomer_does_not_overtake_a_waiting_job() -> None:
    line, served = RequestQueue(1), list[str]()

    async def call(name: str) -> None:
        async with line.turn(ignore):
            served.append(name)

    async with line.turn(ignore):
        waiting = asyncio.create_task(call("waited"))
        while line.length != (1, 1):
            await asyncio.sleep(0)
    await call("came")  # before the one that waits has had a step of its own
    await waiting
    assert served == ["waited", "came"]


async def test_a_job_whose_progress_callback_fails_leaves_the_queue() -> None:
    line = RequestQueue(1)

    def refuse(event: Event) -> None:
        raise OSError("no one listens")

    async with line.turn(ignore):
        with pytest.raises(OSError, match="no one listens"):
            await line.turn(refuse).__aenter__()
    assert line.length == (0, 0)


def queued(bench: Bench) -> list[str]:
    return [event.detail for event in bench.events if isinstance(event, Stage) and event.name == "queued"]

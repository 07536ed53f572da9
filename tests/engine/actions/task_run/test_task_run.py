"""A plan at work: side by side, stopped, resumed and refused; a model says what the test wrote."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from support.engine import Bench, asks_for_tests, request_for
from support.servers.scripted import Body, Reply, ScriptedModel

from stet_ls.engine.actions import task
from stet_ls.engine.api.answer import Answer
from stet_ls.engine.api.budget import Budget
from stet_ls.engine.api.evidence import Check, Ruling
from stet_ls.engine.api.plan import TaskOptions
from stet_ls.engine.api.request import Workspace
from stet_ls.engine.errors import UsageError
from stet_ls.engine.job.job import Job
from stet_ls.engine.settings.schema import Settings
from stet_ls.engine.settings.table_schemas import ModelRow
from stet_ls.engine.task_history.history import RUNNING, TaskHistory

ONE = "def one():\n    return 1\n"
ONE_SAMPLE = Settings(models=(ModelRow(name="*", samples=1),))
PLAN = (
    "1. generate | a.py | two | gives 2\n2. generate | b.py | three | gives 3\n3. generate | a.py | six | two() * 3\n"
)


def block(code: str) -> str:
    return f"PLAN: as asked\nCODE:\n```python\n{code}```\n"


def does(number: int) -> Callable[[Body], bool]:
    return lambda body: f"Now do step {number} alone" in str(body["messages"])


@pytest.fixture
def scripted(scripted: ScriptedModel) -> ScriptedModel:
    scripted.on(asks_for_tests, "I write none.")
    return scripted.on(does(1), block("def two():\n    return 2\n")).on(does(3), block("def six():\n    return 6\n"))


@pytest.fixture
def folder(tmp_path: Path, stet_home: Path) -> Path:
    folder = tmp_path / "sums"
    folder.mkdir()
    for name in ("a.py", "b.py"):
        (folder / name).write_text(ONE)
    return folder


async def run(bench: Bench, folder: Path, **fields: object) -> Answer:
    asked = {"path": folder / "a.py", "workspace": Workspace((folder,)), "instruction": "more numbers", **fields}
    return await bench.run("task", "$0" + ONE, **asked)


async def test_a_failed_step_stops_those_that_need_it_alone_and_is_resumed_alone(
    folder: Path, scripted: ScriptedModel
) -> None:
    scripted.on(does(2), "I cannot do that.")
    scripted.reply(PLAN.replace("six | two() * 3", "six | two() * three()"))
    async with Bench(scripted, ONE_SAMPLE) as bench:
        answer = await run(bench, folder)
        assert answer.success, answer.message
        assert "Did 1 of 3 steps" in answer.message
        assert "stopped at generate b.py" in answer.message
        assert "not done generate a.py: needs step 2, which failed" in answer.message
        assert {edit.path for edit in answer.edits} == {folder / "a.py"}
        record = bench.engine.tasks.get(answer.metadata.task)
        assert record.state == "partial"
        assert record.unfinished == (2, 3)
        assert record.steps[1].tokens
        assert "`coder`" in record.steps[1].reason

        asked = len(scripted.requests)
        scripted._matchers.insert(0, (does(2), block("def three():\n    return 3\n")))
        again = await run(bench, folder, task=TaskOptions(task=record.id))
        assert again.message.partition(" · ")[0] == "Did 3 steps", again.message
        assert again.metadata.task == record.id
        prompts = [each.body for each in scripted.requests[asked:]]
        assert not any(does(1)(body) for body in prompts), "a finished step is not repeated"
        assert any(does(2)(body) for body in prompts)
        assert bench.engine.tasks.get(record.id).state == "done"
        with pytest.raises(UsageError, match="no task"):
            await run(bench, folder, task=TaskOptions(task="abcdef"))


async def test_independent_steps_run_side_by_side(folder: Path, scripted: ScriptedModel) -> None:
    """Neither reply comes before both are asked for."""
    both = threading.Barrier(2, timeout=60)

    def when_both(code: str) -> Callable[[Body], Reply]:
        release = threading.Event()

        def reply(body: Body) -> Reply:
            threading.Thread(target=lambda: (both.wait(), release.set())).start()
            return Reply(block(code), hold=release)

        return reply

    scripted.reset()
    scripted.on(asks_for_tests, "none")
    scripted.on(does(1), when_both("def two():\n    return 2\n")).on(does(2), when_both("def three():\n    return 3\n"))
    scripted.reply("1. generate | a.py | two | gives 2\n2. generate | b.py | three | gives 3\n")
    async with Bench(scripted, ONE_SAMPLE) as bench:
        answer = await run(bench, folder)
        assert answer.message.partition(" · ")[0] == "Did 2 steps", answer.message
        assert bench.engine.tasks.list()[0].steps.keys() == {1, 2}


async def test_a_cancelled_task_is_quiet_at_once_and_keeps_what_was_done(folder: Path, scripted: ScriptedModel) -> None:
    scripted.on(does(2), Reply("so ", mode="endless", delay=0.01))
    scripted.reply("1. generate | a.py | two | gives 2\n2. generate | b.py | three | gives two() + 1\n")
    async with Bench(scripted, ONE_SAMPLE) as bench:
        job = asyncio.create_task(run(bench, folder))
        while not any(does(2)(each.body) for each in scripted.requests):
            await asyncio.sleep(0.01)
        left = len(scripted.disconnected)
        began = time.monotonic()
        job.cancel()
        with pytest.raises(asyncio.CancelledError):
            await job
        assert scripted.wait_disconnect(left + 1) - began < 2.0, "0.2 s are promised on an idle machine"
        (record,) = bench.engine.tasks.list()
        assert (record.state, record.unfinished) == ("cancelled", (2,))
        assert (folder / "a.py").read_text() == ONE, "nothing is half-applied"


async def test_a_second_task_on_the_same_files_is_refused_with_the_first_ones_id(
    folder: Path, scripted: ScriptedModel
) -> None:
    scripted.reply(PLAN)
    async with Bench(scripted, ONE_SAMPLE) as bench:
        request = request_for("task", ONE, path=folder / "a.py", workspace=Workspace((folder,)), instruction="x")
        first = bench.engine.tasks.start("aaaaaaaa", "2000-01-01T00:00:00Z", request)
        first.plan({"paths": [str(folder / "a.py")], "steps": []}, "")
        assert TaskHistory(bench.engine._paths.tasks).get("aaaa").state == RUNNING
        answer = await run(bench, folder)
        first.close()
        assert not answer.success
        assert "another task, aaaaaaaa, works on a.py" in answer.message
        assert len(scripted.requests) == 1, "only the plan was asked for"
        assert TaskHistory(bench.engine._paths.tasks).get("aaaa").state == "interrupted", "it never said that it ended"


async def test_a_plan_is_shown_first_and_run_as_its_user_edited_it(folder: Path, scripted: ScriptedModel) -> None:
    scripted.reply(PLAN)
    async with Bench(scripted, ONE_SAMPLE) as bench:
        planned = await run(bench, folder, task=TaskOptions(plan_only=True))
        assert planned.success
        assert not planned.edits
        assert "- [x] 1. generate | a.py | two | gives 2" in planned.markdown
        assert "estimate: 2 calls" in planned.markdown
        assert planned.plan is not None
        assert planned.plan["routes"]["1"]["arm"] == "coder"
        asked = len(scripted.requests)
        scripted.default = block("def two():\n    return 2\n")
        edited = planned.markdown.replace("[x] 2.", "[ ] 2.").replace("[x] 3.", "[ ] 3.")
        answer = await run(bench, folder, instruction="", task=TaskOptions(plan=edited))
        assert {edit.path for edit in answer.edits} == {folder / "a.py"}
        assert "left out" in answer.explanation
        assert len(scripted.requests) > asked
        with pytest.raises(UsageError, match="the plan cannot be used: Line"):
            await run(bench, folder, task=TaskOptions(plan="1. dance | a.py | two | gives 2"))


async def test_a_vague_request_costs_no_call(folder: Path, scripted: ScriptedModel) -> None:
    async with Bench(scripted, ONE_SAMPLE) as bench:
        answer = await run(bench, folder, instruction="make it better")
    assert not answer.success
    assert 'What is meant by "make it better"?' in answer.message
    assert not scripted.requests


async def test_an_earlier_task_is_context_for_the_next(folder: Path, scripted: ScriptedModel) -> None:
    scripted.replies(["1. generate | a.py | two | gives 2\n", block("def two():\n    return 2\n"), "no plan"])
    async with Bench(scripted, ONE_SAMPLE) as bench:
        first = await run(bench, folder)
        assert first.success, first.message
        await run(bench, folder, task=TaskOptions(after=(first.metadata.task,)))
    assert "more numbers (done)" in scripted.requests[-1].prompt


async def test_what_stands_above_the_steps_of_a_plan_counts_for_each_step(
    folder: Path, scripted: ScriptedModel
) -> None:
    plan = (
        "# Plan: more numbers\nconstraint: keep every function to one line\nlibraries: numpy\n"
        "1. generate | a.py | two | gives 2\n2. generate | b.py | three | gives 3\n"
    )
    scripted.on(does(2), block("def three():\n    return 3\n"))
    async with Bench(scripted, ONE_SAMPLE) as bench:
        earlier = await run(bench, folder, instruction="make it better")
        options = TaskOptions(plan=plan, after=(earlier.metadata.task,), libraries=("pandas",))
        answer = await run(bench, folder, task=options)
    assert answer.message.partition(" · ")[0] == "Did 2 steps", answer.message
    for number in (1, 2):
        prompt = next(each.prompt for each in scripted.requests if does(number)(each.body))
        assert "keep every function to one line" in prompt
        assert "pandas, numpy" in prompt
        assert "make it better (refused)" in prompt, "the earlier task"


async def test_a_task_is_stopped_by_the_time_of_its_own_budget_and_steps(folder: Path, scripted: ScriptedModel) -> None:
    scripted.default = block("def two():\n    return 2\n")
    deadlines = []

    async def watched(job: Job) -> Answer:
        answer = await task.run(job)
        deadlines.append(job.deadline)  # the one that the engine watches
        return answer

    request = request_for(
        "task", "$0" + ONE, path=folder / "a.py", workspace=Workspace((folder,)), instruction="more numbers",
        task=TaskOptions(plan="# Plan: x\n1. generate | a.py | two | gives 2\n"),
    )  # fmt: skip
    async with Bench(scripted, ONE_SAMPLE) as bench:
        answer = await bench.engine.run_action(request, replace(task.ACTION, run=watched))
    assert answer.success, answer.message
    assert [deadline.budget for deadline in deadlines] == [Budget.TASK]
    assert deadlines[0].added, "the time of its step"


async def test_a_plan_is_made_for_the_required_packages(folder: Path, scripted: ScriptedModel) -> None:
    async with Bench(scripted, ONE_SAMPLE) as bench:
        await run(bench, folder, task=TaskOptions(libraries=("pandas",)))
    assert "Packages that the task requires:\npandas" in scripted.requests[0].prompt.replace("\n\n", "\n")


async def test_a_thorough_task_plans_the_code_of_its_steps(folder: Path, scripted: ScriptedModel) -> None:
    scripted.reply("1. generate | a.py | two | gives 2\n")
    scripted.default = block("def two():\n    return 2\n")
    async with Bench(scripted, ONE_SAMPLE) as bench:
        await run(bench, folder, budget=Budget.THOROUGH)
    assert len(scripted.plans) == 1


async def test_an_example_that_does_not_hold_fails_its_step_and_is_tried_again(
    folder: Path, scripted: ScriptedModel
) -> None:
    scripted.replies(
        [
            "1. generate | a.py | two | gives 2\n   accept: example two() == 2\n",
            block("def two():\n    return 3\n"),
            block("def two():\n    return 2\n"),
        ]
    )
    async with Bench(scripted, ONE_SAMPLE) as bench:
        answer = await run(bench, folder)
    said = next((item for item in answer.evidence if item.name == "acceptance"), None)
    if said is None or said.verdict is Ruling.UNKNOWN:
        pytest.skip(f"code cannot run here: {answer.message}")
    assert said.verdict is Ruling.PASS
    assert "`two() == 2` holds" in said.detail
    assert "Why the last try" in scripted.requests[-1].prompt


async def test_steps_without_an_edit_report_and_pass_on_what_they_found(folder: Path, scripted: ScriptedModel) -> None:
    plan = (
        "# Plan: look\n1. find | a.py | one | where one is defined\n2. guard | a.py | - | secrets\n"
        "3. run | a.py | - | python -c 'import a; print(a.one() + 41)'\n"
    )
    async with Bench(scripted, ONE_SAMPLE) as bench:
        await bench.engine.index.read((folder,), 30.0)
        answer = await run(bench, folder, task=TaskOptions(plan=plan))
    if "code may not run" in answer.message:
        pytest.skip(answer.message)
    assert answer.success, answer.message
    assert "`one` in" in answer.markdown
    assert "42" in answer.markdown
    assert [item.verdict for item in answer.evidence if item.check is Check.DANGER] == [Ruling.PASS]
    assert not scripted.requests


async def test_a_command_that_never_stops_printing_is_stopped_and_said(folder: Path, scripted: ScriptedModel) -> None:
    async with Bench(scripted, ONE_SAMPLE) as bench:
        answer = await run(bench, folder, task=TaskOptions(plan="# Plan: look\n1. run | a.py | - | yes\n"))
    if "code may not run" in answer.message:
        pytest.skip(answer.message)
    assert not answer.success
    assert "`yes` failed: it printed more than 4,096 KB and was stopped" in answer.message
    assert not answer.new_files

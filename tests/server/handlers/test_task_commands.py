"""`stet.plan` and `stet.tasks`: a plan is shown, edited, run and listed in any editor."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import pytest
from support.engine import asks_for_tests
from support.servers.scripted import Reply, ScriptedModel
from support.servers.session import NOTHING, SERVER, command, editor, finish, introduction
from support.servers.wire import ErrorAnswer, RawClient

ONE = "def one():\n    return 1\n"
PLAN = "1. generate | a.py | two | gives 2\n2. generate | shop/b.py | three | gives 3\n"


def block(code: str) -> str:
    return f"PLAN: as asked\nCODE:\n```python\n{code}```\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "sums"
    (folder / "shop").mkdir(parents=True)
    (folder / "a.py").write_text(ONE)
    (folder / "shop" / "b.py").write_text(ONE)
    return folder


def _held_in_step_two(scripted: ScriptedModel) -> threading.Event:
    """Has the model answer each step but the second one, for which it waits until the event is set."""
    gate = threading.Event()
    scripted.on(asks_for_tests, "none")
    scripted.on(lambda body: "Now do step 2 alone" in str(body["messages"]), Reply("no", hold=gate))
    scripted.default = block("def two():\n    return 2\n")
    return gate


async def test_a_running_task_shows_its_step_seconds_and_tokens(
    environment: Mapping[str, str], scripted: ScriptedModel, folder: Path
) -> None:
    gate = _held_in_step_two(scripted)
    uri = (folder / "a.py").as_uri()
    plan = f"# Plan: more numbers\npriority: high\n{PLAN}  - needs: 1\n"
    async with editor(environment, NOTHING, rootUri=folder.as_uri()) as client:
        client.open(uri, "python", ONE)
        health = await command(client, "stet.health")
        assert health["parts"]["tasks"] == {"state": "ok", "detail": "none runs", "todo": "", "running": []}
        job = (await command(client, "stet.task", uri=uri, instruction="more numbers", plan=plan))["job"]
        await asyncio.to_thread(scripted.wait_request, 3)  # the code and the tests of step 1, the code of step 2
        while not (running := (await command(client, "stet.health"))["parts"]["tasks"]["running"]):
            await asyncio.sleep(0)
        (row,) = running
        assert (row["running"], row["done"], row["total"]) == (["2. generate shop/b.py"], 1, 2)
        assert row["tokens"] > 0
        assert row["seconds"] >= 0
        (listed,) = (await command(client, "stet.tasks.list"))["tasks"]
        assert (listed["state"], listed["running"]["running"]) == ("running", row["running"])
        assert 'stet_tasks_running{priority="high"} 1.0' in (await command(client, "stet.stats"))["prometheus"]
        gate.set()
        await finish(client, job)
        (listed,) = (await command(client, "stet.tasks.list"))["tasks"]
        assert listed["running"] is None
        assert 'stet_tasks_running{priority="high"} 0.0' in (await command(client, "stet.stats"))["prometheus"]


SLEEPER = "86397.25"
"""Seconds that no other process sleeps: it is found by them."""


def sleepers() -> list[Path]:
    """The processes that have these seconds among their arguments, in the sandbox or around it."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if SLEEPER in (folder / "cmdline").read_text():
                found.append(folder)
    return found


async def test_a_cancelled_task_is_quiet_and_leaves_no_process(
    environment: Mapping[str, str], scripted: ScriptedModel, folder: Path
) -> None:
    scripted.default = Reply("so ", mode="endless", delay=0.01)
    uri = (folder / "a.py").as_uri()
    plan = (
        f"# Plan: both at once\n1. run | - | - | python3 -c 'import time; time.sleep({SLEEPER})'\n"
        "2. generate | shop/b.py | three | gives 3\n  - needs: none\n"
    )
    async with editor(environment, rootUri=folder.as_uri()) as client:
        client.open(uri, "python", ONE)
        job = (await command(client, "stet.task", uri=uri, instruction="more numbers", plan=plan))["job"]
        await asyncio.to_thread(scripted.wait_request)
        while not sleepers():
            result = await command(client, "stet.result", job=job)
            if result["status"] != "running":
                pytest.skip(f"code cannot run here: {result['message']}")
        assert await command(client, "stet.cancel", job=job) == {"cancelled": True}
        ended = await finish(client, job)
        since = client.mark()
        assert ended["status"] == "cancelled"
        assert not sleepers(), "the command of step 1"
        await asyncio.to_thread(scripted.wait_disconnect)
        await command(client, "stet.health")  # looks at everything: what the task still had to say would come before
        assert not [each for each in client.messages[since:] if f"stet/{job}" in str(each.get("params"))]
        (listed,) = (await command(client, "stet.tasks.list"))["tasks"]
        assert (listed["state"], listed["unfinished"]) == ("cancelled", [1, 2])


async def test_a_task_whose_server_was_killed_repeats_no_finished_step(
    environment: Mapping[str, str], scripted: ScriptedModel, folder: Path
) -> None:
    gate = _held_in_step_two(scripted)
    uri, plan = (folder / "a.py").as_uri(), f"# Plan: more numbers\n{PLAN}  - needs: 1\n"
    async with RawClient.stdio([*SERVER], env=environment) as client:
        await client.initialize(**introduction(NOTHING), rootUri=folder.as_uri())
        client.open(uri, "python", ONE)
        await command(client, "stet.task", uri=uri, instruction="more numbers", plan=plan)
        while not any("Now do step 2 alone" in each.prompt for each in scripted.requests):
            await asyncio.to_thread(scripted.wait_request, len(scripted.requests) + 1)
        assert client.process is not None
        client.process.kill()
        await client.process.wait()
    gate.set()
    scripted.reset()
    scripted.on(asks_for_tests, "none")
    scripted.default = block("def three():\n    return 3\n")
    async with editor(environment, NOTHING, rootUri=folder.as_uri()) as client:
        client.open(uri, "python", ONE)
        (row,) = (await command(client, "stet.tasks.list"))["tasks"]
        assert (row["state"], row["unfinished"]) == ("interrupted", [2])
        done = await finish(client, (await command(client, "stet.tasks.resume", id=row["id"]))["job"])
        assert [Path(each["path"]).name for each in done["answer"]["edits"]] == ["a.py", "b.py"], done["message"]
        assert not any("Now do step 1 alone" in each.prompt for each in scripted.requests)


async def test_a_plan_is_shown_edited_run_and_listed(
    environment: Mapping[str, str], scripted: ScriptedModel, folder: Path
) -> None:
    scripted.on(asks_for_tests, "none")
    scripted.reply(PLAN)
    scripted.default = block("def two():\n    return 2\n")
    uri = (folder / "a.py").as_uri()
    async with editor(environment, NOTHING, rootUri=folder.as_uri()) as client:
        client.open(uri, "python", ONE)
        argument = {
            "uri": uri,
            "instruction": "more numbers",
            "files": ["shop/b.py"],
            "libraries": ["numpy"],
            "deadline": 600,
            "priority": "low",
        }
        planned = await finish(client, (await command(client, "stet.plan", **argument))["job"])
        assert planned["status"] == "done", planned["message"]
        assert "- [x] 2. generate | shop/b.py | three | gives 3" in planned["markdown"]
        assert "libraries: numpy\npriority: low\ndeadline: 600 s" in planned["markdown"]
        task = planned["answer"]["metadata"]["task"]

        edited = planned["markdown"].replace("[x] 2.", "[ ] 2.")
        resumed = await command(client, "stet.tasks.resume", id=task, plan=edited)
        done = await finish(client, resumed["job"])
        assert "def two" in done["answer"]["code"], done["message"]
        assert [Path(each["path"]).name for each in done["answer"]["edits"]] == ["a.py"]

        (row,) = (await command(client, "stet.tasks.list"))["tasks"]
        assert (row["id"], row["state"], row["instruction"]) == (task, "done", "more numbers")
        shown = await command(client, "stet.tasks.show", id=task[:8])
        assert "- 1. done (" in shown["markdown"]
        assert [each["verdict"] for each in shown["steps"][0]["answer"]["evidence"] if each["check"] == "syntax"]
        with pytest.raises(ErrorAnswer, match="there is no task"):
            await command(client, "stet.tasks.show", id="ffff")

        listed = await command(client, "stet.capabilities")
        assert {"coder", "executor", "guardian"} <= {arm["name"] for arm in listed["arms"]}
        coder = next(arm for arm in listed["arms"] if arm["name"] == "coder")
        assert coder["health"] == {"state": "healthy", "reason": ""}
        assert (coder["measured"]["tried"], coder["measured"]["done"]) == (1, 1)
        assert coder["measured"]["seconds"] > 0
        assert {"generate", "check", "guard"} <= {step["name"] for step in listed["steps"]}
        assert listed["model"]["name"] == scripted.models[0]

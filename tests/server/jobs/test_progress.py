"""Progress as the client sees it, and the four ways to stop a job: each ends the model's stream at once."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from support.findings import editing
from support.servers.scripted import Reply, ScriptedModel
from support.servers.session import (
    EGLOT,
    NEOVIM,
    VSCODE,
    begins_first,
    boxes,
    command,
    editor,
    ended,
    fenced,
    finish,
    lines,
    start,
)
from support.servers.wire import TIMEOUT, ErrorAnswer, Json, RawClient

from stet_ls import engine
from stet_ls.engine.api.events import JudgeStarted, Notice, Progress, Stage
from stet_ls.engine.api.evidence import CHECKS, Check
from stet_ls.server.jobs.progress_text import ProgressText, stage_text
from stet_ls.server.lsp import client_configuration

URI = "file:///w/a.py"
TEXT = "def add(a, b):\n    total = a + b\n    return total\n"
NEW = "def add(a, b):\n    return a + b\n"

Environment = Mapping[str, str]


def endless() -> Reply:
    """A reply that continues until its reader leaves, and never repeats itself, which would end it."""
    return Reply(chunks=[f"x{number} = {number * number}\n" for number in range(20_000)], delay=0.01, mode="endless")


def progress(client: RawClient, kind: str) -> list[Json]:
    """The progress notifications of one kind."""
    return [each for each in client.received("$/progress") if each["value"]["kind"] == kind]


async def refactor(client: RawClient) -> str:
    client.open(URI, "python", TEXT)
    return await start(client, "refactor", uri=URI, range=lines(1))


@pytest.fixture
def patient(served_here: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server in this process waits for the editor's settings as long as a test does."""
    monkeypatch.setattr(client_configuration, "CONFIGURATION_SECONDS", TIMEOUT)


@pytest.mark.usefixtures("patient")
async def test_a_job_shows_its_stages_and_ends_once_with_the_evidence(scripted: ScriptedModel) -> None:
    scripted.default = fenced(NEW)
    async with editing(VSCODE) as client:
        begins_first(client)
        result = await finish(client, await refactor(client))
        await ended(client)

        [created] = client.received("window/workDoneProgress/create")
        [begin] = progress(client, "begin")
        [end] = progress(client, "end")
        assert {each["token"] for each in (begin, end, *progress(client, "report"))} == {created["token"]}
        assert begin["value"]["cancellable"] is True
        assert begin["value"]["title"] == "Stet: refactor a.py"
        assert end["value"]["message"] == result["message"]
        assert "syntax ok" in end["value"]["message"]
        messages = [each["value"]["message"] for each in progress(client, "report")]
        assert any(each.startswith("asking scripted-7b") for each in messages)
        assert "checking: behavior, old and new" in messages
        assert messages[-1] == "waiting for your answer in the editor"


@pytest.mark.usefixtures("patient")
async def test_a_job_that_waits_for_the_editors_settings_says_that_it_is_starting(scripted: ScriptedModel) -> None:
    asked = asyncio.Event()
    scripted.default = fenced(NEW)
    async with editing(VSCODE) as client:

        async def settings(params: Json) -> list[None]:
            await asked.wait()
            return [None] * len(params["items"])

        client.answers["workspace/configuration"] = settings
        job = await refactor(client)
        begin = await client.wait_for(lambda m: m.get("params", {}).get("value", {}).get("kind") == "begin")
        assert begin["params"]["value"]["message"] == "starting"
        [row] = (await command(client, "stet.jobs"))["jobs"]
        assert row["stage"] == "starting"
        asked.set()
        assert (await finish(client, job))["applied"] is True


async def test_token_reports_are_rate_limited(scripted: ScriptedModel, environment: Environment) -> None:
    began = threading.Event()
    scripted.default = Reply(fenced(NEW), chunks=[*["word "] * 400, fenced(NEW)], delay=0.001, hold=began)
    async with editor(environment, VSCODE) as client:
        job = await refactor(client)
        await client.wait_notification("$/progress")
        began.set()
        await finish(client, job)

        counts = [each for each in progress(client, "report") if " token" in each["value"]["message"]]
        assert 0 < len(counts) < 40


async def test_elapsed_seconds_are_updated_while_the_model_is_silent(
    scripted: ScriptedModel, environment: Environment
) -> None:
    scripted.default = Reply(stall_after=0)
    async with editor(environment, VSCODE) as client:
        job = await refactor(client)

        def clocked(message: Json) -> bool:
            said = str(message.get("params", {}).get("value", {}).get("message"))
            return re.fullmatch(r"asking scripted-7b, \d+ s", said) is not None

        for _ in range(2):
            await client.wait_for(clocked, since=client.mark())
        seconds = [
            int(found.group(1))
            for each in progress(client, "report")
            if (found := re.fullmatch(r"asking scripted-7b, (\d+) s", each["value"]["message"]))
        ]
        assert seconds == sorted(set(seconds)), "no second is told twice"
        assert seconds[0] >= 2, "what is quick needs no clock"
        await command(client, "stet.cancel", job=job)
        await finish(client, job)
        mark = client.mark()
        with pytest.raises(TimeoutError):
            await client.wait_for(lambda m: m.get("method") == "$/progress", since=mark, timeout=2.5)


async def test_a_client_without_progress_gets_two_lines_in_its_log(
    scripted: ScriptedModel, environment: Environment
) -> None:
    scripted.default = fenced(NEW)
    async with editor(environment, EGLOT) as client:
        result = await finish(client, await refactor(client))
        await client.wait_for(lambda m: result["message"] in str(m.get("params", {}).get("message")))

        assert not client.received("window/workDoneProgress/create")
        assert not client.received("$/progress")
        lines_ = [params["message"] for params in client.received("window/logMessage")]
        assert next(line for line in lines_ if "refactor a.py" in line) == "Stet: refactor a.py: started"


async def test_a_client_that_refuses_the_progress_still_gets_its_edit(
    scripted: ScriptedModel, environment: Environment
) -> None:
    def refuse(params: Json) -> None:
        raise ErrorAnswer(-32603, "no progress today")

    scripted.default = fenced(NEW)
    async with editor(environment, VSCODE) as client:
        client.answers["window/workDoneProgress/create"] = refuse
        result = await finish(client, await refactor(client))

        assert result["applied"] is True
        assert not client.received("$/progress")


async def test_a_client_that_never_answers_the_progress_still_gets_its_edit(
    scripted: ScriptedModel, environment: Environment
) -> None:
    scripted.default = fenced(NEW)
    async with editor(environment, VSCODE) as client:
        client.answers["window/workDoneProgress/create"] = lambda params: asyncio.Event().wait()
        result = await finish(client, await refactor(client))

        assert result["applied"] is True


async def by_command(client: RawClient, job: str) -> None:
    assert await command(client, "stet.cancel", job=job) == {"cancelled": True}


async def by_progress(client: RawClient, job: str) -> None:
    begin = await client.wait_for(lambda m: m.get("params", {}).get("value", {}).get("kind") == "begin")
    client.notify("window/workDoneProgress/cancel", {"token": begin["params"]["token"]})


async def by_closing(client: RawClient, job: str) -> None:
    client.close(URI)


async def by_shutdown(client: RawClient, job: str) -> None:
    assert await client.request("shutdown") is None


@pytest.mark.parametrize("way", [by_command, by_progress, by_closing, by_shutdown])
async def test_each_way_to_cancel_stops_the_reply(
    way: Callable[[RawClient, str], Awaitable[None]], scripted: ScriptedModel, environment: Environment
) -> None:
    scripted.default = endless()
    async with editor(environment, VSCODE) as client:
        job = await refactor(client)
        waiting = client.call(
            "workspace/executeCommand", {"command": "stet.result", "arguments": [{"job": job, "wait": True}]}
        )
        await client.wait_for(lambda m: "tokens" in str(m.get("params", {}).get("value", {}).get("message")))

        await way(client, job)
        await asyncio.to_thread(scripted.wait_disconnect)

        assert len(scripted.requests) == 1
        if way is by_shutdown:
            client.notify("exit")
            await client.wait_end()
        else:
            result = await waiting
            assert (result["status"], result["applied"], result["answer"]) == ("cancelled", None, None)
        assert len(progress(client, "begin")) == len(progress(client, "end")) == 1
        assert progress(client, "end")[0]["value"]["message"] == "cancelled"
        assert boxes(client) == []
        assert not client.received("workspace/applyEdit")


async def test_cancelling_the_wait_does_not_cancel_the_job(scripted: ScriptedModel, environment: Environment) -> None:
    scripted.default = endless()
    async with editor(environment, NEOVIM) as client:
        job = await refactor(client)
        waiting = client.call(
            "workspace/executeCommand", {"command": "stet.result", "arguments": [{"job": job, "wait": True}]}
        )
        await asyncio.to_thread(scripted.wait_request, 1, TIMEOUT)
        client.cancel(waiting)
        with pytest.raises(ErrorAnswer) as raised:
            await waiting

        assert raised.value.code == -32800
        assert (await command(client, "stet.result", job=job))["status"] == "running"
        assert await command(client, "stet.cancel", job=job) == {"cancelled": True}
        assert (await finish(client, job))["status"] == "cancelled"
        assert await command(client, "stet.cancel", job=job) == {"cancelled": False}


async def test_a_job_is_cancelled_while_its_question_is_open(scripted: ScriptedModel, environment: Environment) -> None:
    scripted.default = fenced(NEW)
    async with editor(environment, NEOVIM) as client:
        client.answers["window/showMessageRequest"] = lambda params: asyncio.Event().wait()
        client.open(URI, "python", TEXT)
        job = await start(client, "refactor", uri=URI, range=lines(1), preview="always")
        await client.wait_notification("window/showMessageRequest")
        await command(client, "stet.cancel", job=job)

        assert (await finish(client, job))["status"] == "cancelled"
        assert client.text(URI) == TEXT


async def test_many_jobs_end_each_once(scripted: ScriptedModel, environment: Environment) -> None:
    scripted.default = endless()
    async with editor(environment, VSCODE) as client:
        client.open(URI, "python", TEXT)
        jobs = [await start(client, "explain", uri=URI, range=lines(1)) for _ in range(5)]
        await asyncio.to_thread(scripted.wait_request, 4, TIMEOUT)  # the fifth waits for its turn
        for job in jobs:
            await command(client, "stet.cancel", job=job)
        results: list[Any] = [await finish(client, job) for job in jobs]
        await client.wait_for(lambda m: len(progress(client, "end")) == len(jobs))

        assert {result["status"] for result in results} == {"cancelled"}
        tokens = [each["token"] for each in progress(client, "end")]
        assert sorted(tokens) == sorted(set(tokens)) == sorted(each["token"] for each in progress(client, "begin"))


def test_a_line_names_the_judge_without_counts_of_the_stage_before() -> None:
    at = ProgressText()
    for event in (Stage("model", "Qwen/Qwen2.5-Coder-7B"), Progress(1)):
        at.on_event(event)
    assert at.text == "asking Qwen2.5-Coder-7B · writing, 1 token"
    at.on_event(JudgeStarted(Check.TESTS))
    assert at.text == "checking: the project's tests"
    at.on_event(JudgeStarted(Check.CUSTOM))
    assert at.text == "checking"
    at.on_event(Stage("queued", "2 ahead"))
    assert at.text == "waiting, 2 ahead"
    at.on_event(Stage("model"))
    assert at.text == "asking Qwen2.5-Coder-7B", "its turn has come"
    at.on_event(Stage("step", "1 of 2: split the model"))
    assert at.text == "step: 1 of 2: split the model", "the user's words stay"


def test_a_notice_stays_until_tokens_arrive_and_reasoning_is_distinguished() -> None:
    at = ProgressText()
    at.on_event(Stage("model", "Qwen/Qwen2.5-Coder-7B"))
    for notice in ("Starting the embedded model.", "It is still loading."):
        assert at.on_event(Notice(notice)), "news"
    assert at.text == "It is still loading"
    assert at.on_event(Progress(3, thinking=True)), "news"
    assert at.text == "asking Qwen2.5-Coder-7B · thinking, 3 tokens"
    assert not at.on_event(Progress(4, thinking=True)), "a mere count"
    assert at.on_event(Progress(5)), "news"
    assert at.text == "asking Qwen2.5-Coder-7B · writing, 5 tokens"
    at.on_event(Notice("Asking someone else."))
    at.on_event(Stage("repair"))
    assert at.text == "asking Qwen2.5-Coder-7B again"


@pytest.mark.parametrize("check", Check)
def test_every_check_has_a_progress_text(check: Check) -> None:
    at = ProgressText()
    at.on_event(JudgeStarted(check))
    assert at.text == ("checking" if check is Check.CUSTOM else f"checking: {CHECKS[check].looks_at}")


def test_every_stage_of_the_engine_has_a_progress_text() -> None:
    texts = [path.read_text(encoding="utf-8") for path in Path(engine.__file__).parent.rglob("*.py")]
    names = {name for text in texts for name in re.findall(r'\b(?:stage|Stage)\("(\w+)"', text)}
    assert {"reproduce", "judge"} <= names
    assert [name for name in names if stage_text(Stage(name)) == name] == ["step"], "which is a word already"
